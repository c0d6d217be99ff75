internal import CordonIdentity

/// The people whom a change under way touches, as they were counted and as they are now.
///
/// Not sendable: it lives as long as the body of one transaction.
final class StatusNotes {
    /// The most people who are counted within the change itself; of more, the rest is counted behind it.
    static let mostAtOnce = 64

    private struct Entry {
        let stored: PersonStatus?
        var now: PersonStatus
    }

    private var entries: [String: Entry] = [:]
    private var left: Set<String> = []

    /// Notes what a record says that is about to be saved.
    func note(saving record: some StoredRecord, in records: some StorageReader) throws(ServiceError) {
        switch type(of: record).storageKind {
        case .registration:
            guard let registration = record as? Registration else { return }
            try edit(folded(registration.account.id.rawValue), in: records) { $0.note(registration) }
        case .user:
            guard let user = record as? DirectoryUser else { return }
            try edit(user.storageID, in: records) { $0.note(user) }
        case .block: try edit(record.storageID, in: records) { $0.isBlocked = true }
        case .membership: try note(membership: record.storageID, true, in: records)
        default: return
        }
    }

    /// Notes that a record is about to be removed.
    func note(removing id: String, of kind: StorageKind, in records: some StorageReader) throws(ServiceError) {
        switch kind {
        case .registration:
            guard let registration = try records.record(Registration.self, id) else { return }
            try edit(folded(registration.account.id.rawValue), in: records) { $0.forget(registration: id) }
        case .user: try edit(id, in: records) { $0.note(nil) }
        case .block: try edit(id, in: records) { $0.isBlocked = false }
        case .membership: try note(membership: id, false, in: records)
        default: return
        }
    }

    /// Has a person counted by what the records say now.
    func recount(_ person: String, in records: some StorageReader) throws(ServiceError) {
        entries[person] = Entry(
            stored: try records.record(PersonStatus.self, person), now: try PersonStatus(of: person, in: records))
    }

    /// Writes down what has changed, and leaves for later the people whom it did not look at; whether it has left any.
    func write(in transaction: some StorageTransaction) throws(ServiceError) -> Bool {
        var differences: [StatusCount.Place: Int] = [:]
        for (person, entry) in entries where entry.stored != entry.now {
            guard entry.now.isCounted || entry.stored != nil else { continue }
            for (place, number) in entry.stored?.places ?? [:] { differences[place, default: 0] -= number }
            for (place, number) in entry.now.places { differences[place, default: 0] += number }
            if entry.now.isCounted {
                try transaction.save(entry.now)
            } else {
                try transaction.remove(PersonStatus.self, person)
            }
        }
        for (place, difference) in differences where difference != 0 {
            try transaction.add(difference, to: place)
        }
        let people = left.sorted()
        for start in stride(from: 0, to: people.count, by: StatusBacklog.most) {
            try transaction.save(
                StatusBacklog(
                    id: RandomID.system.identifier(),
                    people: Array(people[start..<min(start + StatusBacklog.most, people.count)])))
        }
        return !people.isEmpty
    }

    private func note(membership id: String, _ isMember: Bool, in records: some StorageReader) throws(ServiceError) {
        let group = GroupMembership.group(inID: id)
        guard id.dropFirst(group.count).hasPrefix("/u/") else { return }
        try edit(GroupMembership.person(inID: id), in: records) { $0.note(inGroup: group, isMember) }
    }

    private func edit(
        _ person: String, in records: some StorageReader, _ edit: (inout PersonStatus) -> Void
    ) throws(ServiceError) {
        guard !left.contains(person) else { return }
        var entry: Entry
        if let known = entries[person] {
            entry = known
        } else {
            guard entries.count < Self.mostAtOnce else {
                left.insert(person)
                return
            }
            let stored = try records.record(PersonStatus.self, person)
            entry =
                if let stored { Entry(stored: stored, now: stored) } else {
                    Entry(stored: nil, now: try PersonStatus(of: person, in: records))
                }
        }
        edit(&entry.now)
        entries[person] = entry
    }
}

extension StorageTransaction {
    /// Adds people to a count, or takes them away.
    func add(_ difference: Int, to place: StatusCount.Place) throws(ServiceError) {
        let known = try record(StatusCount.self, place.id)
        let people = (known?.people ?? 0) + difference
        if people > 0 {
            try save(StatusCount(place: place, people: people))
        } else if known != nil {
            try remove(StatusCount.self, place.id)
        }
    }
}
