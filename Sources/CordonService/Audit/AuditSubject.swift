internal import CordonProtocol

/// A person as the audit log knows them: they themselves, their apps on devices, the wipes of these, and their coming into groups and
/// leaving them.
struct AuditSubject {
    private let person: String
    private let apps: Set<String>
    private let targets: Set<String>

    /// - Parameter person: The object id, in any case.
    init(person: String, in records: some StorageReader) throws(ServiceError) {
        self.person = folded(person)
        apps = Set(try records.records(Registration.self, where: (.user, self.person)).map(\.id))
        let wipes = try records.records(WipeOperation.self, where: (.user, self.person)).map(\.id)
        targets = Set(apps.map { "registration/" + $0 } + wipes.map { "operation/" + $0 })
    }

    /// Whether a record is about the person or an app of theirs, or one of these did what it tells.
    func isIn(_ record: AuditRecord) -> Bool {
        folded(record.actor.id) == person || folded(record.target) == "user/" + person
            || apps.contains(record.actor.id) || targets.contains(record.target)
            || record.details["registration"].map(apps.contains) ?? false
            || ["addedMembers", "removedMembers"].contains { names(record.details[$0]) }
    }

    /// Whether a list of members of a group names the person.
    private func names(_ members: String?) -> Bool {
        // An id of a person may have commas; spaces are between members alone.
        members?.split(separator: ", ").contains { folded(String($0)) == "user/" + person } ?? false
    }
}
