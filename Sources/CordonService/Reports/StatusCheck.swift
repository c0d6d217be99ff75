internal import CordonIdentity
internal import Foundation

/// Recounts people, from the records themselves, and corrects the counters where they differ.
///
/// It reads a page at a time over a reader, and takes the writer for those alone that differ. What changes meanwhile keeps its own
/// count right, so that nothing has to stand still.
struct StatusCheck: Sendable {
    /// The most people of one look.
    private static let page = 256

    let store: TenantStore

    /// Recounts all people.
    ///
    /// - Returns: How many people and counts were wrong.
    func run(of tenant: TenantID) async throws(ServiceError) -> Int {
        var wrong = 0
        wrong += try await walk(of: tenant) { records, last in
            try records.identifiers(DirectoryUser.self, of: .all, after: last, limit: Self.page).map { ($0, $0) }
        }
        // Whom the directory does not have, and who has apps.
        wrong += try await walk(of: tenant) { records, last in
            try records.page(Registration.self, of: .found(by: .state, "active"), after: last, limit: Self.page)
                .map { ($0.id, folded($0.account.id.rawValue)) }
        }
        wrong += try await walk(of: tenant) { records, last in
            try records.identifiers(PersonStatus.self, of: .all, after: last, limit: Self.page).map { ($0, $0) }
        }
        wrong += try await correctCounts(of: tenant)
        try await store.change(for: tenant) { change in
            var settings = try change.settings()
            guard settings.countsPeople != true else { return }
            settings.countsPeople = true
            try change.save(settings)
        }
        return wrong
    }

    /// Looks at people a page at a time.
    ///
    /// - Parameter next: The ids of the next records of something, and the people that they are about.
    private func walk(
        of tenant: TenantID,
        _ next: @escaping @Sendable (any StorageReader, String?) throws -> [(id: String, person: String)]
    ) async throws(ServiceError) -> Int {
        var last: String?
        var wrong = 0
        while true {
            let position = last
            let (people, outdated, end) = try await store.read(for: tenant) { records in
                let page = try next(records, position)
                var outdated = 0
                let people = try Set(page.map(\.person)).filter { person in
                    let truth = try PersonStatus(of: person, in: records)
                    let known = try records.record(PersonStatus.self, person)
                    guard truth.isCounted ? truth != known : known != nil else { return false }
                    if let known, known.lacksInstallations { outdated += 1 }
                    return true
                }
                return (people.sorted(), outdated, page.count < Self.page ? nil : page.last?.id)
            }
            for start in stride(from: 0, to: people.count, by: StatusNotes.mostAtOnce) {
                let some = Array(people[start..<min(start + StatusNotes.mostAtOnce, people.count)])
                try await store.change(for: tenant, behindOthers: true) { change in
                    for person in some { try change.statuses.recount(person, in: change) }
                }
            }
            // What a version before did not count yet is no fault.
            wrong += people.count - outdated
            guard let end else { return wrong }
            last = end
        }
    }

    /// Adds up all statuses at one moment and compares the counts of the same moment with that; the difference is what they are wrong
    /// by at any later moment too.
    private func correctCounts(of tenant: TenantID) async throws(ServiceError) -> Int {
        let (differences, corrections) = try await store.read(for: tenant) { records in
            var differences: [StatusCount.Place: Int] = [:]
            var last: String?
            repeat {
                let page = try records.page(PersonStatus.self, of: .all, after: last, limit: 1_000)
                for standing in page {
                    for (place, number) in standing.places { differences[place, default: 0] += number }
                }
                last = page.count < 1_000 ? nil : page.last?.storageID
            } while last != nil
            for count in try records.records(StatusCount.self) {
                differences[count.place, default: 0] -= count.people
            }
            return (differences.filter { $0.value != 0 }, try records.settings().countCorrections)
        }
        guard !differences.isEmpty else { return 0 }
        return try await store.change(for: tenant) { change in
            var settings = try change.settings()
            // Another check may have found the same and corrected it meanwhile.
            guard settings.countCorrections == corrections else { return 0 }
            settings.countCorrections = (corrections ?? 0) + 1
            try change.save(settings)
            for (place, difference) in differences { try change.add(difference, to: place) }
            return differences.count
        }
    }
}

extension StatusBacklog {
    /// Counts whom large changes have left, some in each transaction.
    static func work(off tenant: TenantID, in store: TenantStore) async throws(ServiceError) {
        while true {
            let next = try await store.read(for: tenant) { records in
                try records.identifiers(StatusBacklog.self, of: .all, after: nil, limit: 1).first
            }
            guard let next else { return }
            try await store.change(for: tenant, behindOthers: true) { change in
                guard var backlog = try change.record(StatusBacklog.self, next) else { return }
                for person in backlog.people.prefix(StatusNotes.mostAtOnce) {
                    try change.statuses.recount(person, in: change)
                }
                backlog.people.removeFirst(min(StatusNotes.mostAtOnce, backlog.people.count))
                if backlog.people.isEmpty {
                    try change.remove(StatusBacklog.self, backlog.id)
                } else {
                    try change.save(backlog)
                }
            }
        }
    }
}
