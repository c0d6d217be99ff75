/// Mustache templates of the pages, in which every value is escaped.
enum ConsoleTemplates {
    static let all = [
        "page": page, "blocks": joined(blocks), "cell": cell, "table": table, "form": form, "field": joined(field),
        "chart": chart, "main": main,
    ]

    /// A template whose lines are alternatives, so that those which do not hold leave no empty lines.
    private static func joined(_ template: String) -> String { template.replacing("}}\n{{", with: "}}{{") }

    private static let page = """
        <!doctype html>
        <html lang="{{language}}">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>{{title}} · Cordon</title>
        <link rel="stylesheet" href="/console/assets/console.css">
        <link rel="icon" href="/console/assets/icon.svg" type="image/svg+xml">
        {{#live}}<script src="/console/assets/console.js" defer></script>{{/live}}
        </head>
        <body>
        <a class="skip" href="#main">{{skip}}</a>
        <header>
        <a class="brand" href="/console">Cordon</a>
        {{#caller}}<span class="who">{{name}} <small>{{roles}}</small></span>
        <form method="post" action="/console/sign-out"><input type="hidden" name="csrf" value="{{csrf}}"><button>{{leave}}</button></form>
        {{#languages}}<form method="post" action="/console/language"><input type="hidden" name="csrf" value="{{csrf}}"><input type="hidden" name="page" value="{{page}}"><input type="hidden" name="language" value="{{code}}"><button lang="{{code}}">{{name}}</button></form>{{/languages}}{{/caller}}
        </header>
        {{#menu}}<nav aria-label="{{name}}"><ul>{{#all}}<li><a href="{{href}}"{{#current}} aria-current="page"{{/current}}>{{text}}</a></li>{{/all}}</ul></nav>{{/menu}}
        <main id="main" tabindex="-1"{{#live}} data-live="{{.}}"{{/live}}>
        {{> main}}
        </main>
        </body>
        </html>

        """

    private static let main = """
        {{#above}}<p class="above"><a href="{{href}}">{{text}}</a></p>{{/above}}
        <h1>{{title}}</h1>
        {{#lead}}<p class="lead">{{.}}</p>{{/lead}}
        {{> blocks}}

        """

    private static let blocks = """
        {{#blocks}}
        {{#text}}<p>{{.}}</p>{{/text}}
        {{#note}}<div class="note {{tone}}" role="{{role}}"><p>{{text}}</p>{{#items}}<p class="item">{{.}}</p>{{/items}}</div>{{/note}}
        {{#facts}}<dl>{{#rows}}<dt>{{name}}</dt><dd>{{#cell}}{{> cell}}{{/cell}}</dd>{{/rows}}</dl>{{/facts}}
        {{#tiles}}<ul class="tiles">{{#all}}<li class="{{tone}}"><a href="{{href}}"><strong>{{number}}</strong> <span>{{text}}</span></a></li>{{/all}}</ul>{{/tiles}}
        {{#table}}{{> table}}{{/table}}
        {{#form}}{{> form}}{{/form}}
        {{#links}}<p class="links">{{#all}}<a href="{{href}}"{{#main}} class="main"{{/main}}>{{text}}</a> {{/all}}</p>{{/links}}
        {{#chart}}{{> chart}}{{/chart}}
        {{#code}}<pre tabindex="0" aria-label="{{label}}">{{text}}</pre>{{/code}}
        {{#card}}<section class="card"><h2>{{title}}</h2>{{> blocks}}</section>{{/card}}
        {{#more}}<details><summary>{{title}}</summary>{{> blocks}}</details>{{/more}}
        {{/blocks}}

        """

    private static let cell = """
        {{#text}}{{.}}{{/text}}{{#link}}<a href="{{href}}">{{text}}</a>{{/link}}{{#badge}}<span class="badge {{tone}}">{{text}}</span>{{/badge}}{{#time}}<time datetime="{{iso}}">{{text}}</time>{{/time}}{{#code}}<code>{{.}}</code>{{/code}}{{#button}}<form method="post" action="{{action}}"><input type="hidden" name="csrf" value="{{csrf}}">{{#hidden}}<input type="hidden" name="{{name}}" value="{{value}}">{{/hidden}}<button>{{text}}</button></form>{{/button}}{{#list}}{{#all}}<span class="one">{{#cell}}{{> cell}}{{/cell}}</span> {{/all}}{{/list}}
        """

    private static let table = """
        {{#empty}}<p class="caption">{{caption}}</p><p class="empty">{{.}}</p>{{/empty}}
        {{#filled}}<div class="scroll" role="region" aria-label="{{caption}}" tabindex="0"><table><caption>{{caption}}</caption>
        <thead><tr>{{#columns}}<th scope="col">{{.}}</th>{{/columns}}</tr></thead>
        <tbody>{{#rows}}<tr>{{#cells}}<td data-column="{{column}}">{{#cell}}{{> cell}}{{/cell}}</td>{{/cells}}</tr>{{/rows}}</tbody></table></div>{{/filled}}
        {{#more}}<p class="links"><a href="{{href}}" rel="next">{{text}}</a></p>{{/more}}

        """

    private static let form = """
        <form class="{{#bare}}bare{{/bare}}{{#filled}}form{{/filled}}" method="{{method}}" action="{{action}}">
        {{#token}}<input type="hidden" name="csrf" value="{{csrf}}">{{/token}}
        {{#hidden}}<input type="hidden" name="{{name}}" value="{{value}}">{{/hidden}}
        {{#sets}}{{#legend}}<fieldset><legend>{{.}}</legend>{{#help}}<p class="help">{{.}}</p>{{/help}}{{/legend}}
        {{#fields}}{{> field}}{{/fields}}
        {{#legend}}</fieldset>{{/legend}}{{/sets}}
        <p class="links"><button{{#grave}} class="grave"{{/grave}}>{{submit}}</button>{{#cancel}} <a href="{{href}}">{{text}}</a>{{/cancel}}</p>
        </form>

        """

    private static let field = """
        <div class="field{{#error}} wrong{{/error}}{{#idle}} idle{{/idle}}">
        {{#line}}<label for="{{id}}">{{label}}</label><input id="{{id}}" name="{{name}}" value="{{#value}}{{.}}{{/value}}" autocomplete="off" spellcheck="false" maxlength="4096"{{#required}} required{{/required}}{{#about}} aria-describedby="{{id}}-about"{{/about}}{{#error}} aria-invalid="true"{{/error}}>{{#search}}<button class="beside" name="step" value="find">{{.}}</button>{{/search}}{{/line}}
        {{#long}}<label for="{{id}}">{{label}}</label><textarea id="{{id}}" name="{{name}}" rows="5"{{#about}} aria-describedby="{{id}}-about"{{/about}}{{#error}} aria-invalid="true"{{/error}}>
        {{#value}}{{.}}{{/value}}</textarea>{{/long}}
        {{#choice}}<label for="{{id}}">{{label}}</label><select id="{{id}}" name="{{name}}"{{#about}} aria-describedby="{{id}}-about"{{/about}}{{#error}} aria-invalid="true"{{/error}}>{{#options}}<option value="{{#value}}{{.}}{{/value}}"{{#chosen}} selected{{/chosen}}>{{text}}</option>{{/options}}</select>{{/choice}}
        {{#flag}}<label class="check"><input type="checkbox" id="{{id}}" name="{{name}}" value="true"{{#checked}} checked{{/checked}}{{#about}} aria-describedby="{{id}}-about"{{/about}}> {{label}}</label>{{/flag}}
        {{#radio}}<fieldset><legend>{{label}}</legend>{{#options}}<div class="option"><label class="check"><input type="radio" id="{{id}}" name="{{name}}" value="{{value}}"{{#chosen}} checked{{/chosen}}{{#help}} aria-describedby="{{id}}-help"{{/help}}> {{text}}</label>{{#help}}<p class="help" id="{{id}}-help">{{.}}</p>{{/help}}</div>{{/options}}</fieldset>{{/radio}}
        {{#several}}<fieldset{{#about}} aria-describedby="{{id}}-about"{{/about}}><legend>{{label}}</legend>{{#options}}<label class="check"><input type="checkbox" id="{{id}}" name="{{name}}" value="{{value}}"{{#chosen}} checked{{/chosen}}> {{text}}</label>{{/options}}</fieldset>{{/several}}
        {{#about}}<div id="{{id}}-about" class="about">{{#error}}<p class="error">{{.}}</p>{{/error}}{{#remarks}}<p class="remark">{{.}}</p>{{/remarks}}{{#idle}}<p class="remark">{{.}}</p>{{/idle}}{{#help}}<p class="help">{{.}}</p>{{/help}}</div>{{/about}}
        </div>

        """

    private static let chart = """
        <figure><figcaption>{{title}}</figcaption>
        {{#empty}}<p class="empty">{{.}}</p>{{/empty}}
        {{#drawn}}<svg width="100%" height="{{height}}" role="img" aria-label="{{words}}">{{#bars}}<text x="0" y="{{text}}">{{label}}</text><rect class="{{tone}}" x="0" y="{{y}}" width="{{length}}%" height="8" rx="2"></rect>{{/bars}}</svg>{{/drawn}}</figure>

        """
}
