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

    func model(in language: ConsoleLanguage) -> PageModel {
        // A button alone needs no box around it.
        let isBare = fieldsets.allSatisfy(\.fields.isEmpty)
        return PageModel([
            "bare": isBare, "filled": !isBare, "action": action, "submit": submit.text(in: language), "grave": isGrave,
            "quiet": isQuiet, "locked": isLocked, "open": !isLocked, "method": asks ? "get" : "post",
            "token": !asks, "hidden": hidden.map { PageModel(["name": $0.0, "value": $0.1]) },
            "sets": fieldsets.map { $0.model(in: language, asks: asks) }, "cancel": cancel?.model(in: language),
        ])
    }
}

/// Fields that belong together.
struct Fieldset {
    var legend: Phrase = ""
    var help: Phrase = ""
    var fields: [Field]

    func model(in language: ConsoleLanguage, asks: Bool = false) -> PageModel {
        PageModel([
            "legend": legend.text(in: language), "help": help.text(in: language),
            "fields": fields.map { $0.model(in: language, asks: asks) },
        ])
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

    /// - Parameter asks: Whether the form only asks.
    func model(in language: ConsoleLanguage, asks: Bool = false) -> PageModel {
        func say(_ phrase: Phrase) -> String { phrase.text(in: language) }
        let about = [help, error, idle].contains { !$0.isEmpty } || !remarks.isEmpty
        var members: [String: Any?] = [
            "id": "f-\(name)", "name": name, "label": say(label), "help": say(help), "error": say(error),
            "idle": say(idle), "remarks": remarks.isEmpty ? nil : remarks.map(say), "required": isRequired,
            "value": value, "about": about,
        ]
        switch kind {
        case .text: members["line"] = true
        case .long: members["long"] = true
        case .search(let button):
            members["line"] = true
            members["search"] = say(button)
        case .flag:
            members["flag"] = true
            members["checked"] = value == "true"
        case .choice(let options):
            members["choice"] = true
            members["options"] = (options + (asks ? [] : Self.missing([value], in: options))).map { option in
                PageModel(["value": option.value, "text": say(option.text), "chosen": option.value == value])
            }
        case .radio(let options):
            members["radio"] = true
            members["options"] = options.map { option in
                PageModel([
                    "value": option.value, "text": say(option.text), "help": say(option.help),
                    "chosen": option.value == value,
                    "name": name, "id": "f-\(name)-\(option.value)",
                ])
            }
        case .several(let options):
            let chosen = value.split(separator: ",").map(String.init)
            members["several"] = true
            members["options"] = (options + (asks ? [] : Self.missing(chosen, in: options))).map { option in
                PageModel([
                    "value": option.value, "text": say(option.text), "chosen": chosen.contains(option.value),
                    "name": name, "id": "f-\(name)-\(option.value)",
                ])
            }
        }
        return PageModel(members)
    }

    /// What is chosen and not offered, such as a tag that is gone: a form without it would take it away when it is saved.
    private static func missing(
        _ chosen: [String], in options: [(value: String, text: Phrase)]
    ) -> [(value: String, text: Phrase)] {
        let offered = Set(options.map(\.value))
        return chosen.filter { !$0.isEmpty && !offered.contains($0) }.map { ($0, .data($0)) }
    }
}
