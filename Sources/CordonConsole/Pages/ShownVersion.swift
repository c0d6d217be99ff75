import CordonPolicy

/// The version of a policy that a form was made from, so that two administrators do not overwrite each other's changes.
enum ShownVersion {
    /// The version that was shown when what was filled in was.
    static func of(_ form: ConsoleForm?) -> String? {
        form.flatMap { $0["version"].isEmpty ? nil : $0["version"] }
    }

    /// Whether another administrator changed the policy since the form was shown.
    static func isOutdated(_ form: ConsoleForm, _ entity: JSONValue) -> Bool {
        of(form).map { $0 != entity.text("version") } ?? false
    }

    /// Says that another administrator was first, and what is in force.
    static func overtaken(
        by now: [Phrase], _ saying: Phrase = "Another administrator changed this policy while you did."
    ) -> Block {
        .note(
            .bad, saying,
            [
                "Nothing was overwritten. The form below has what you filled in; sending it again replaces what is in force now:",
                now.isEmpty ? "none" : .list(now),
            ])
    }
}
