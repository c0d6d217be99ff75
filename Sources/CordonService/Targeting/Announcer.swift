internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import Foundation
internal import Logging

/// Works out behind each change whom it concerns, and tells them.
///
/// Registrations are looked through over a reader, which holds up no writer; the writer is taken for those alone that there is
/// something to tell, a few at a time and fewer where others wait for it, in the transaction that also says how far the work has
/// come. Between those transactions is a pause, so that not all apps come back in the same second and check-ins are written
/// meanwhile.
struct Announcer: Sendable {
    /// The most registrations that are told in one transaction.
    static let mostPerStep = 64
    /// The most registrations that are looked through before it is written down how far the work has come: so few that a store
    /// remembers them as they were decoded, until they are told.
    static let page = 3 * mostPerStep

    /// The usual pause after each app that was told.
    private let pause: Duration
    private let targeting: Targeting
    private let logger: Logger
    private let turns = SerialTasks<TenantID>()
    private let underWay = Locked<[TenantID: UnderWay]>([:])

    private struct UnderWay {
        let task: Task<Void, Never>
        /// Whether there is more to do since it began.
        var isAskedForAgain = false
    }

    /// - Parameter perSecond: How many apps are told in a second, about.
    init(targeting: Targeting, perSecond: Int, logger: Logger) {
        pause = .seconds(1) * (1 / Double(max(1, perSecond)))
        self.targeting = targeting
        self.logger = logger
    }

    /// Starts the work of an organisation, unless it is under way; returns at once.
    func start(_ tenant: TenantID, in store: TenantStore) {
        underWay.withLock { underWay in
            guard underWay[tenant] == nil else {
                underWay[tenant]?.isAskedForAgain = true
                return
            }
            let task = Turn.outside {
                Task {
                    repeat {
                        do throws(ServiceError) {
                            try await work(of: tenant, in: store, pausing: pause)
                        } catch {
                            // What is left stands in the store, and is taken up with the next change or the next look.
                            logger.warning(
                                "apps could not be told of a change yet", metadata: ["code": "\(error.code.rawValue)"])
                        }
                    } while goesOn(tenant)
                }
            }
            underWay[tenant] = UnderWay(task: task)
        }
    }

    /// Forgets what was worked out for a registration that has ended.
    func forget(_ registrationID: String, of tenant: TenantID) { targeting.forget(registrationID, of: tenant) }

    /// Does what there is to do, without pauses; returns when all of it is done, and nothing of it under way.
    func finish(_ tenant: TenantID, in store: TenantStore) async throws(ServiceError) {
        let outcome: Result<Void, ServiceError>
        do {
            outcome = .success(try await work(of: tenant, in: store, pausing: nil))
        } catch {
            outcome = .failure(error)
        }
        await underWay.withLock { $0[tenant]?.task }?.value
        try outcome.get()
    }

    private func goesOn(_ tenant: TenantID) -> Bool {
        underWay.withLock { underWay in
            let isAskedForAgain = underWay[tenant]?.isAskedForAgain == true
            if isAskedForAgain { underWay[tenant]?.isAskedForAgain = false } else { underWay[tenant] = nil }
            return isAskedForAgain
        }
    }

    /// Tells connected apps that an epoch has begun: the first at once, the others one slice after the other. Who is not connected
    /// finds the epoch in the store.
    func tell(of epoch: Int64, _ tenant: TenantID, over events: EventBroadcaster) {
        let all = events.addresses(of: tenant).shuffled()
        events.publish(epoch: epoch, to: all.prefix(Self.mostPerStep))
        let rest = all.dropFirst(Self.mostPerStep)
        guard !rest.isEmpty else { return }
        Turn.outside {
            _ = Task {
                for start in stride(from: rest.startIndex, to: rest.endIndex, by: Self.mostPerStep) {
                    await Self.wait(pause * Self.mostPerStep)
                    events.publish(epoch: epoch, to: rest[start..<min(start + Self.mostPerStep, rest.endIndex)])
                }
            }
        }
    }

    /// Does what there is to do, a page of each announcement in turn, so that a change for few does not wait for one for many.
    ///
    /// - Parameter pause: How long to wait after each app that was told, about; nil for not at all.
    private func work(of tenant: TenantID, in store: TenantStore, pausing pause: Duration?) async throws(ServiceError) {
        try await turns.run(tenant) { () async throws(ServiceError) in
            var reached: [String: Announcement] = [:]
            try await StatusBacklog.work(off: tenant, in: store)
            while true {
                let waiting = try await store.read(for: tenant) { records in
                    try records.page(Announcement.self, of: .all, after: nil, limit: Self.page)
                }
                guard !waiting.isEmpty else { return }
                for announcement in waiting {
                    reached[announcement.id] = try await step(
                        of: reached[announcement.id] ?? announcement, to: tenant, in: store, pausing: pause)
                }
            }
        }
    }

    /// Looks through one page and tells those of it whom the change concerns; how the work goes on, nil when it is done.
    private func step(
        of announcement: Announcement, to tenant: TenantID, in store: TenantStore, pausing pause: Duration?
    ) async throws(ServiceError) -> Announcement? {
        let (found, next) = try await store.read(for: tenant) { [targeting] records in
            let search = AnnouncementSearch(targeting: targeting, tenant: tenant, records: records)
            return try search.step(of: announcement)
        }
        let isDone = next.next == nil
        // How far it has come is written down with what it has told; to look through the rest again costs time alone.
        guard !found.isEmpty || isDone else { return next }
        var rest = found[...]
        repeat {
            let (some, left) = (Array(rest.prefix(Self.mostPerStep)), rest.count)
            let told = try await store.change(for: tenant, behindOthers: true) { [targeting] change in
                let told = try targeting.tell(firstOf: some, in: &change)
                // Another service over the same store may have come to its end meanwhile.
                guard told == left, try change.record(Announcement.self, next.id) != nil else { return told }
                if isDone { try change.remove(Announcement.self, next.id) } else { try change.save(next) }
                return told
            }
            rest = rest.dropFirst(told)
            if let pause, !rest.isEmpty || !isDone { await Self.wait(pause * told) }
        } while !rest.isEmpty
        return isDone ? nil : next
    }

    /// Waits between half the time and one and a half, so that several services do not go in step.
    private static func wait(_ pause: Duration) async {
        try? await Task.sleep(for: pause * Double.random(in: 0.5...1.5))
    }
}

/// One look for registrations that there is something to tell.
struct AnnouncementSearch {
    let targeting: Targeting
    let tenant: TenantID
    let records: any StorageReader

    /// The ids of registrations of the next page that there is something to tell, and how the work goes on after them.
    func step(of announcement: Announcement) throws(ServiceError) -> (found: [String], next: Announcement) {
        var next = announcement
        if next.parts == nil { next.divide(into: try parts(of: announcement)) }
        guard let (part, position) = next.next else { return ([], next) }
        let (registrations, end) = try page(of: part, after: position)
        next.goOn(after: end)
        let snapshot = try targeting.snapshot(of: tenant, in: records)
        targeting.keep(snapshot, of: tenant)
        var found: [String] = []
        for registration in registrations where next.isAbout(registration) {
            let news = try targeting.news(for: registration, snapshot: snapshot, tenant: tenant, in: records)
            if news != nil { found.append(registration.id) }
        }
        return (found, next)
    }

    /// Looks through people or through apps, whichever are fewer.
    private func parts(of announcement: Announcement) throws(ServiceError) -> [Announcement.Part] {
        let apps = announcement.apps?.map(Announcement.Part.app)
        guard let groups = announcement.groups else { return apps ?? [.everybody] }
        let all = try targeting.snapshot(of: tenant, in: records).groups(under: groups).sorted()
        guard let apps, let names = announcement.apps else { return all.map(Announcement.Part.group) }
        // Neither is counted to its end where it is clear which are fewer.
        var most = Announcer.page
        while true {
            var (people, installed) = (0, 0)
            for group in all {
                people += try records.count(
                    GroupMembership.self, of: GroupMembership.people(of: group), atMost: most - min(most, people))
            }
            for app in names {
                installed += try records.count(
                    Registration.self, of: .found(by: .app, app), atMost: most - min(most, installed))
            }
            guard people >= most, installed >= most else {
                return installed < people ? apps : all.map(Announcement.Part.group)
            }
            most *= 4
        }
    }

    /// Some registrations of a part, and the place after them; nil at the part's end.
    private func page(
        of part: Announcement.Part, after position: String?
    ) throws(ServiceError) -> (registrations: [Registration], end: String?) {
        switch part {
        case .everybody: return try page(of: .found(by: .state, "active"), after: position)
        case .app(let app): return try page(of: .found(by: .app, app), after: position)
        case .group(let group):
            let page = try records.identifiers(
                GroupMembership.self, of: GroupMembership.people(of: group), after: position, limit: Announcer.page)
            let end = page.count < Announcer.page ? nil : page.last
            return (try registrations(of: page.map(GroupMembership.person(inID:))), end)
        case .people(let people): return (try registrations(of: people), nil)
        }
    }

    private func registrations(of people: [String]) throws(ServiceError) -> [Registration] {
        var registrations: [Registration] = []
        for person in people { registrations += try records.records(Registration.self, where: (.user, person)) }
        return registrations
    }

    private func page(
        of part: RecordPart, after position: String?
    ) throws(ServiceError) -> (registrations: [Registration], end: String?) {
        let page = try records.page(Registration.self, of: part, after: position, limit: Announcer.page)
        return (page, page.count < Announcer.page ? nil : page.last?.id)
    }
}

extension Announcement {
    /// Whether a registration is of an app that the change is about.
    fileprivate func isAbout(_ registration: Registration) -> Bool {
        apps?.contains(folded(registration.application.bundleID)) ?? true
    }
}
