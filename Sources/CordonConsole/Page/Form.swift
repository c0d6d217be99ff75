import CordonPages

/// Something to fill in and send.
struct Form {
    var action: String
    var submit: Phrase
    var fieldsets: [Fieldset]
    var hidden: [(String, String)] = []
    /// Whether sending it cannot be taken back.
    var isGrave = false
    /// Whether it only asks, so that it may be an address.
    var asks = false
    /// Whether its button is beside the point of the page.
    var isQuiet = false
    /// Whether the person may read what it says and not change it.
    var isLocked = false
    var cancel: Link?

    init(
        _ action: String, submit: Phrase, hidden: [(String, String)] = [], isGrave: Bool = false,
        isQuiet: Bool = false, isLocked: Bool = false, asks: Bool = false, cancel: Link? = nil,
        _ fields: [Field] = [], fieldsets: [Fieldset] = []
    ) {
        self.action = action
        self.submit = submit
        self.hidden = hidden
        self.isGrave = isGrave
        self.isQuiet = isQuiet
        self.isLocked = isLocked
        self.asks = asks
        self.cancel = cancel
        self.fieldsets = (fields.isEmpty ? [] : [Fieldset(fields: fields)]) + fieldsets
    }

    func html(_ page: Rendering) -> HTML {
        // A button alone needs no box around it.
        let kind = fieldsets.allSatisfy(\.fields.isEmpty) ? "bare" : "form"
        let buttons: HTML = """
            <p class="links"><button\(" class=\"grave\"", if: isGrave)\(" class=\"quiet\"", if: isQuiet)>\(page.say(submit))\
            </button>\(cancel.map { [" <a href=\"\($0.href)\">\(page.say($0.text))</a>"] } ?? [])</p>
            """
        return """
            <form class="\(kind)" method="\(asks ? "get" : "post")" action="\(action)">
            \(page.token, if: !asks)\(hidden.map { page.hidden($0.0, $0.1) })
            \("<fieldset class=\"locked\" disabled>", if: isLocked)\(fieldsets.map { $0.html(page, asks: asks) })\
            \("</fieldset>", if: isLocked)
            \(buttons, if: !isLocked)
            </form>

            """
    }
}

/// Fields that belong together.
struct Fieldset {
    var legend: Phrase = ""
    var help: Phrase = ""
    var fields: [Field]
    /// Whether it is shown on demand.
    var isFolded = false

    func html(_ page: Rendering, asks: Bool) -> HTML {
        let fields = HTML(fields.map { $0.html(page, asks: asks) })
        if isFolded { return "<details><summary>\(page.say(legend))</summary>\(fields)</details>" }
        let legend = page.say(legend)
        guard !legend.isEmpty else { return fields }
        return "<fieldset><legend>\(legend)</legend>\(page.paragraph("help", help))\n\(fields)</fieldset>"
    }
}

/// One thing to fill in.
struct Field {
    enum Kind {
        case text
        case long
        /// A line with a button of its own, which sends the form with `step` being `find`.
        case search(Phrase)
        case choice([(value: String, text: Phrase)])
        case radio([(value: String, text: Phrase, help: Phrase)])
        case flag
        case several([(value: String, text: Phrase)])
    }

    var kind: Kind
    var name: String
    var label: Phrase
    var help: Phrase = ""
    /// What stands there; of `several`, what is chosen with commas between.
    var value = ""
    /// Why it cannot stay so.
    var error: Phrase = ""
    /// What the rules have to say about it.
    var remarks: [Phrase] = []
    var isRequired = false
    /// Why it makes no difference at present.
    var idle: Phrase = ""

    init(
        _ kind: Kind, _ name: String, _ label: Phrase, help: Phrase = "", value: String = "", error: Phrase = "",
        isRequired: Bool = false
    ) {
        self.kind = kind
        self.name = name
        self.label = label
        self.help = help
        self.value = value
        self.error = error
        self.isRequired = isRequired
    }

    private var id: String { "f-\(name)" }

    /// - Parameter asks: Whether the form only asks.
    func html(_ page: Rendering, asks: Bool) -> HTML {
        """
        <div class="field\(" wrong", if: !error.isEmpty)\(" idle", if: !idle.isEmpty)">
        \(control(page, asks: asks))
        \("<div id=\"\(id)-about\" class=\"about\">\(about(page))</div>", if: isExplained)
        </div>

        """
    }

    private var isExplained: Bool { [help, error, idle].contains { !$0.isEmpty } || !remarks.isEmpty }

    private func about(_ page: Rendering) -> [HTML] {
        [page.paragraph("error", error)] + remarks.map { page.paragraph("remark", $0) }
            + [page.paragraph("remark", idle), page.paragraph("help", help)]
    }

    private func control(_ page: Rendering, asks: Bool) -> HTML {
        let described: HTML = isExplained ? " aria-describedby=\"\(id)-about\"" : ""
        let attributes: HTML = "\(described)\(" aria-invalid=\"true\"", if: !error.isEmpty)"
        let label: HTML = "<label for=\"\(id)\">\(page.say(label))</label>"
        switch kind {
        case .text: return "\(label)\(line(attributes))"
        case .search(let button):
            return """
                \(label)\(line(attributes))\
                <button class="beside" name="step" value="find">\(page.say(button))</button>
                """
        case .long:
            return "\(label)<textarea id=\"\(id)\" name=\"\(name)\" rows=\"5\"\(attributes)>\n\(value)</textarea>"
        case .choice(let options):
            let offered = options + (asks ? [] : Self.missing([value], in: options))
            let shown = offered.map { option -> HTML in
                let chosen = option.value == value
                return """
                    <option value="\(option.value)"\(" selected", if: chosen)>\(page.say(option.text))</option>
                    """
            }
            return "\(label)<select id=\"\(id)\" name=\"\(name)\"\(attributes)>\(shown)</select>"
        case .flag:
            return """
                <label class="check"><input type="checkbox" id="\(id)" name="\(name)" value="true"\
                \(" checked", if: value == "true")\(described)> \(page.say(self.label))</label>
                """
        case .radio(let options):
            let shown = options.map { option -> HTML in
                let (id, help) = ("\(id)-\(option.value)", page.say(option.help))
                let described: HTML = help.isEmpty ? "" : " aria-describedby=\"\(id)-help\""
                return """
                    <div class="option">\(box("radio", option.value, option.text, option.value == value, described, page))\
                    \("<p class=\"help\" id=\"\(id)-help\">\(help)</p>", if: !help.isEmpty)</div>
                    """
            }
            return "<fieldset><legend>\(page.say(self.label))</legend>\(shown)</fieldset>"
        case .several(let options):
            let chosen = value.split(separator: ",").map(String.init)
            let shown = (options + (asks ? [] : Self.missing(chosen, in: options))).map { option in
                box("checkbox", option.value, option.text, chosen.contains(option.value), "", page)
            }
            return "<fieldset\(described)><legend>\(page.say(self.label))</legend>\(shown)</fieldset>"
        }
    }

    private func line(_ attributes: HTML) -> HTML {
        """
        <input id="\(id)" name="\(name)" value="\(value)" autocomplete="off" spellcheck="false" maxlength="4096"\
        \(" required", if: isRequired)\(attributes)>
        """
    }

    private func box(
        _ type: String, _ value: String, _ text: Phrase, _ isChosen: Bool, _ attributes: HTML, _ page: Rendering
    ) -> HTML {
        """
        <label class="check"><input type="\(type)" id="\(id)-\(value)" name="\(name)" value="\(value)"\
        \(" checked", if: isChosen)\(attributes)> \(page.say(text))</label>
        """
    }

    /// What is chosen and not offered, such as a tag that is gone: a form without it would take it away when it is saved.
    private static func missing(
        _ chosen: [String], in options: [(value: String, text: Phrase)]
    ) -> [(value: String, text: Phrase)] {
        let offered = Set(options.map(\.value))
        return chosen.filter { !$0.isEmpty && !offered.contains($0) }.map { ($0, .data($0)) }
    }
}
