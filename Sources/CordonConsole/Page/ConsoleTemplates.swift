/// Mustache templates of what stands around a page's blocks, in which every value is escaped.
enum ConsoleTemplates {
    static let all = ["opening": opening, "page": page, "main": main]

    /// What goes out before the page is read.
    private static let opening = """
        <!doctype html>
        <html lang="{{language}}">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <link rel="stylesheet" href="/console/assets/console.css">
        <link rel="icon" href="/console/assets/icon.svg" type="image/svg+xml">

        """

    private static let page = """
        <title>{{title}} · Cordon</title>
        {{#live}}<script src="/console/assets/console.js" defer></script>{{/live}}
        </head>
        <body>
        <a class="skip" href="#main">{{skip}}</a>
        <header>
        <a class="brand" href="/console">Cordon</a>
        {{#caller}}<span class="who">{{name}} <small>{{roles}}</small></span>
        <form method="post" action="/console/sign-out"><input type="hidden" name="csrf" value="{{csrf}}"><button>{{leave}}</button></form>
        {{#languages}}<form method="post" action="/console/language"><input type="hidden" name="csrf" value="{{csrf}}"><input type="hidden" name="page" value="{{page}}"><input type="hidden" name="language" value="{{code}}"><button lang="{{code}}">{{name}}</button></form>{{/languages}}{{/caller}}
        {{#stale}}<p class="stale" role="status" hidden>{{.}}</p>{{/stale}}
        </header>
        {{#menu}}<nav aria-label="{{name}}"><ul>{{#all}}<li><a href="{{href}}"{{#current}} aria-current="page"{{/current}}>{{text}}</a></li>{{/all}}</ul></nav>{{/menu}}
        <main id="main" tabindex="-1"{{#live}} data-live="{{.}}"{{/live}}>
        {{> main}}
        </main>
        </body>
        </html>

        """

    private static let main = """
        {{#above}}<p class="above">{{{.}}}</p>{{/above}}
        <h1>{{title}}</h1>
        {{#lead}}<p class="lead">{{.}}</p>{{/lead}}
        {{{blocks}}}

        """
}
