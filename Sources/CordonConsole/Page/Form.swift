import CordonPages

/// Something to fill in and send.
struct Form {
    var action: String
    var submit: String
    var fieldsets: [Fieldset]
    var hidden: [(String, String)] = []
    /// Whether sending it cannot be taken back.
    var isGrave = false
    /// Whether it only asks, so that it may be an address.
    var asks = false
    var cancel: Link?

    init(
        _ action: String, submit: String, hidden: [(String, String)] = [], isGrave: Bool = false, asks: Bool = false,
        cancel: Link? = nil, _ fields: [Field]
    ) {
        self.init(
            action, submit: submit, hidden: hidden, isGrave: isGrave, asks: asks, cancel: cancel,
            fieldsets: [Fieldset(fields: fields)])
    }

    init(
        _ action: String, submit: String, hidden: [(String, String)] = [], isGrave: Bool = false, asks: Bool = false,
        cancel: Link? = nil, fieldsets: [Fieldset]
    ) {
        self.action = action
        self.submit = submit
        self.hidden = hidden
        self.isGrave = isGrave
        self.asks = asks
        self.cancel = cancel
        self.fieldsets = fieldsets
    }

    var model: PageModel {
        PageModel([
            "action": action, "submit": submit, "grave": isGrave, "method": asks ? "get" : "post", "token": !asks,
            "hidden": hidden.map { PageModel(["name": $0.0, "value": $0.1]) },
            "sets": fieldsets.map(\.model), "cancel": cancel?.model,
        ])
    }
}

/// Fields that belong together.
struct Fieldset {
    var legend = ""
    var help = ""
    var fields: [Field]

    var model: PageModel {
        PageModel(["legend": legend, "help": help, "fields": fields.map(\.model)])
    }
}

/// One thing to fill in.
struct Field {
    enum Kind {
        case text
        case long
        case choice([(value: String, text: String)])
        case radio([(value: String, text: String, help: String)])
        case flag
        case several([(value: String, text: String)])
    }

    var kind: Kind
    var name: String
    var label: String
    var help = ""
    /// What stands there; of `several`, what is chosen with commas between.
    var value = ""
    /// Why it cannot stay so.
    var error = ""
    /// What else is to be said of it.
    var remarks: [String] = []
    var isRequired = false
    /// Why it makes no difference at present.
    var idle = ""

    init(
        _ kind: Kind, _ name: String, _ label: String, help: String = "", value: String = "", error: String = "",
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

    var model: PageModel {
        let about = [help, error, idle].contains { !$0.isEmpty } || !remarks.isEmpty
        var members: [String: Any?] = [
            "id": "f-\(name)", "name": name, "label": label, "help": help, "error": error, "idle": idle,
            "remarks": remarks.isEmpty ? nil : remarks, "required": isRequired, "value": value, "about": about,
        ]
        switch kind {
        case .text: members["line"] = true
        case .long: members["long"] = true
        case .flag:
            members["flag"] = true
            members["checked"] = value == "true"
        case .choice(let options):
            members["choice"] = true
            members["options"] = options.map { option in
                PageModel(["value": option.value, "text": option.text, "chosen": option.value == value])
            }
        case .radio(let options):
            members["radio"] = true
            members["options"] = options.map { option in
                PageModel([
                    "value": option.value, "text": option.text, "help": option.help, "chosen": option.value == value,
                    "name": name, "id": "f-\(name)-\(option.value)",
                ])
            }
        case .several(let options):
            let chosen = Set(value.split(separator: ",").map(String.init))
            members["several"] = true
            members["options"] = options.map { option in
                PageModel([
                    "value": option.value, "text": option.text, "chosen": chosen.contains(option.value),
                    "name": name, "id": "f-\(name)-\(option.value)",
                ])
            }
        }
        return PageModel(members)
    }
}
