/// Mustache templates of the pages, in which every value is escaped.
///
/// The names of the form fields (`request`, `csrf`, `username`, `password`, `user_code`, `action`) are a contract:
/// tests and scripts fill the forms in without a browser.
enum ProviderTemplates {
    static let all = [
        "head": head, "form": form, "sign-in": signIn, "decision": decision, "device-code": deviceCode,
        "message": message,
    ]

    private static let head = """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>{{title}}</title>
        <style nonce="{{nonce}}">
        :root { color-scheme: light dark; font: 100%/1.5 system-ui, sans-serif; }
        body { max-width: 26rem; margin: 4rem auto; padding: 0 1rem; }
        label, input, button { display: block; width: 100%; box-sizing: border-box; font: inherit; }
        input { margin: .25rem 0 1rem; padding: .5rem; }
        button { margin: .5rem 0; padding: .6rem; }
        .failure { border-left: .25rem solid #c00; padding-left: .75rem; }
        footer { margin-top: 3rem; font-size: .85rem; }
        </style>
        </head>
        <body>
        <main>
        <h1>{{title}}</h1>
        {{#failure}}<p class="failure" role="alert">{{.}}</p>{{/failure}}

        """

    private static let form = """
        <input type="hidden" name="request" value="{{request}}">
        <input type="hidden" name="csrf" value="{{csrf}}">

        """

    private static let foot = """
        </main>
        <footer>Identity provider for development. Not for production.</footer>
        </body>
        </html>

        """

    private static let signIn = """
        {{> head}}
        <p>to continue to {{client}}</p>
        <form method="post" action="{{action}}">
        {{> form}}
        <label for="username">Name</label>
        <input id="username" name="username" value="{{username}}" autocomplete="username" autocapitalize="none"
         spellcheck="false" maxlength="254" required>
        <label for="password">Password</label>
        <input id="password" name="password" type="password" autocomplete="current-password" maxlength="1024" required>
        <button name="action" value="sign-in">Sign in</button>
        <button name="action" value="cancel" formnovalidate>Cancel</button>
        </form>
        \(foot)
        """

    private static let decision = """
        {{> head}}
        <p>{{text}}</p>
        <ul>{{#details}}<li>{{detail}}</li>{{/details}}</ul>
        <form method="post" action="{{action}}">
        {{> form}}
        <button name="action" value="allow">{{allow}}</button>
        {{#other}}<button name="action" value="switch">{{.}}</button>{{/other}}
        <button name="action" value="deny">{{deny}}</button>
        </form>
        \(foot)
        """

    private static let deviceCode = """
        {{> head}}
        <p>Enter the code that the device shows. Continue only if you started this yourself.</p>
        <form method="post" action="{{action}}">
        {{> form}}
        <label for="user_code">Code</label>
        <input id="user_code" name="user_code" value="{{code}}" autocomplete="off" autocapitalize="characters"
         spellcheck="false" maxlength="32" required>
        <button name="action" value="continue">Continue</button>
        </form>
        \(foot)
        """

    private static let message = """
        {{> head}}
        <p>{{text}}</p>
        \(foot)
        """
}
