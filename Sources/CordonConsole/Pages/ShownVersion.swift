import CordonPolicy
import CordonServiceHTTP

/// The version of what a form was made from, so that two administrators do not overwrite each other's changes.
enum ShownVersion {
    /// The version that was shown when what was filled in was.
    static func of(_ form: ConsoleForm?) -> String? {
        form.flatMap { $0["version"].isEmpty ? nil : $0["version"] }
    }

    /// The version in which a route answered something: a member of it, or what is said about it.
    static func of(_ entity: JSONValue) -> String {
        entity["version"]?.string ?? EntityTag.version(in: entity.text("@odata.etag"))
    }

    /// Whether another administrator changed it since the form was shown; what is new was changed by nobody.
    static func isOutdated(_ form: ConsoleForm, _ entity: JSONValue) -> Bool {
        entity != .null && of(form).map { $0 != of(entity) } ?? false
    }

    /// What says so of anything but a policy.
    static let ofEntry: Phrase = "Another administrator changed this while you did."

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
