import CordonPages

/// For whom the parts of a page are put into HTML.
struct Rendering {
    let language: ConsoleLanguage
    /// What forms show that they are of the person's session.
    let csrf: String

    func say(_ phrase: Phrase) -> String { phrase.text(in: language) }

    /// The member of a form that says whose it is.
    var token: HTML { hidden("csrf", csrf) }

    func hidden(_ name: String, _ value: String) -> HTML {
        "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
    }

    /// A paragraph; nothing where there is nothing to say.
    func paragraph(_ kind: String, _ text: Phrase) -> HTML {
        let text = say(text)
        return text.isEmpty ? "" : "<p class=\"\(kind)\">\(text)</p>"
    }
}
