public import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

/// Changes that wait for a second person.
public struct Approvals: Sendable {
    let store: TenantStore
    let targeting: Targeting
    let configuration: ServiceConfiguration

    /// Changes that wait for another person, and those that did in the last weeks, newest first. Those about policies that the caller
    /// does not see are left out.
    public func changes(as administrator: Administrator) async throws(ServiceError) -> [WaitingChange] {
        try await store.require(.read, of: administrator)
        let now = store.now
        let isNews = try await store.read(for: administrator) { records in
            let known = try records.record(KnownApprovers.self, KnownApprovers.id)?.seen[administrator.id]
            return administrator.mayEverywhere(.approve) && !administrator.isProgram
                && known.map { now.timeIntervalSince($0) >= 86_400 } ?? true
        }
        if isNews { try await store.change(for: administrator) { try $0.noteApprover(administrator) } }
        return try await store.read(for: administrator) { records in
            try records.records(WaitingChange.self).filter { try $0.isSeen(by: administrator, in: records) }
                .map { $0.seen(at: now) }
                .sorted { ($1.requested, $0.id) < ($0.requested, $1.id) }
        }
    }

    /// One change that waits or did, with what the caller may decide about it.
    ///
    /// - Throws: ``ServiceError`` with code `notFound`, also for one of a policy that the caller does not see.
    public func change(
        _ id: String, as administrator: Administrator
    ) async throws(ServiceError) -> WaitingChange {
        let now = store.now
        return try await store.read(.read, as: administrator) { records in
            var change = try WaitingChange.known(id, seenBy: administrator, in: records).seen(at: now)
            change.decisions = try change.decisions(of: administrator, targeting, in: records)
            return change
        }
    }

    /// Releases a change that another person asked for: their same call then passes once, for a day, as long as it reaches no more than
    /// a twentieth more.
    ///
    /// - Throws: ``ServiceError``: `notFound` as ``change(_:as:)``; `forbidden` for a program, for who asked, and without the permission
    ///   to approve changes of these policies or of this person now; `staleSignIn`; `conflict` where it does not wait any more.
    public func release(
        _ id: String, as administrator: Administrator
    ) async throws(ServiceError) -> WaitingChange {
        try await store.require(.approve, of: administrator)
        return try await store.change(for: administrator) { change in
            let present = try change.present(administrator)
            guard present.may(.approve) else {
                throw ServiceError(.forbidden, "the roles of \(administrator.id) do not include approve any more")
            }
            guard !administrator.isProgram else { throw ServiceError(.forbidden, "a program releases nothing") }
            guard administrator.call.hasFreshSignIn else {
                throw ServiceError(.staleSignIn, "releasing a change takes a fresh sign-in")
            }
            let waiting = try WaitingChange.known(id, seenBy: present, in: change)
            guard try waiting.mayBeReleased(by: present, targeting, in: change) else {
                throw ServiceError(
                    .forbidden, "the roles of \(administrator.id) do not include approve for what this change is about",
                    place: id)
            }
            guard folded(waiting.requester.id) != folded(administrator.id) else {
                throw ServiceError(
                    .forbidden, "\(administrator.id) asked for the change, so another administrator has to release it")
            }
            try change.noteApprover(administrator)
            return try change.decide(
                waiting, .released, by: administrator.id, AuditRecord.Actor(administrator), configuration)
        }
    }

    /// Stops a change that waits, or that was released and not made yet; any administrator who sees it may, but for what a limited role is
    /// not about.
    ///
    /// - Throws: ``ServiceError``: `notFound` as ``change(_:as:)``; `forbidden` for another than who asked, where no role is about its
    ///   person, or where it is about neither policies nor a person and every role has a limit; `conflict` where it is over already.
    public func stop(_ id: String, as administrator: Administrator) async throws(ServiceError) -> WaitingChange {
        try await store.require(.read, of: administrator)
        return try await store.change(for: administrator) { change in
            let waiting = try WaitingChange.known(id, seenBy: administrator, in: change)
            guard try waiting.mayBeStopped(by: administrator, targeting, in: change) else {
                throw ServiceError(
                    .forbidden, "the roles of \(administrator.id) are not about what this change is about", place: id)
            }
            return try change.decide(
                waiting, .stopped, by: administrator.id, AuditRecord.Actor(administrator), configuration)
        }
    }
}

extension ManagementService {
    /// Releases a change at once, for an operator who may write on the service's machine.
    ///
    /// - Throws: ``ServiceError``: `notFound`, or `conflict` where it does not wait any more.
    @discardableResult
    public func releaseChange(_ id: String, of tenant: TenantID) async throws(ServiceError) -> WaitingChange {
        try await store.change(for: tenant) { change in
            try change.decide(
                try WaitingChange.known(id, in: change), .released, by: "machine", .service, configuration)
        }
    }
}

extension Change {
    fileprivate func decide(
        _ waiting: WaitingChange, _ state: WaitingChange.State, by id: String, _ actor: AuditRecord.Actor,
        _ configuration: ServiceConfiguration
    ) throws(ServiceError) -> WaitingChange {
        let present = waiting.state(at: now)
        guard present == .waiting || (present == .released && state == .stopped) else {
            throw ServiceError(.conflict, "the change is \(present.rawValue) and waits for nothing", place: waiting.id)
        }
        var decided = waiting
        (decided.state, decided.decidedBy, decided.decided) = (state, id, now)
        if state == .released {
            decided.extend(to: now.addingTimeInterval(Double(configuration.approvalLifetime.wholeSeconds)))
        }
        try save(decided)
        try audit(
            actor, state == .released ? "change.release" : "change.stop", "change/\(waiting.id)",
            details: ["digest": waiting.digest, "entity": waiting.entity])
        return decided
    }

    /// An administrator with those roles of the organisation's own that are still the same: one may have changed since the request
    /// came in.
    fileprivate func present(_ administrator: Administrator) throws(ServiceError) -> Administrator {
        var present = administrator
        present.customRoles = []
        for role in administrator.customRoles where try record(CustomRole.self, role.storageID) == role {
            present.customRoles.append(role)
        }
        return present
    }
}

extension WaitingChange {
    /// One by its id.
    ///
    /// - Throws: ``ServiceError`` with code `notFound`.
    fileprivate static func known(_ id: String, in records: some StorageReader) throws(ServiceError) -> WaitingChange {
        guard let change = try records.record(WaitingChange.self, id) else {
            throw ServiceError(.notFound, "no change has this id", place: id)
        }
        return change
    }

    /// One by its id that exists for an administrator.
    ///
    /// - Throws: ``ServiceError`` with code `notFound`.
    fileprivate static func known(
        _ id: String, seenBy administrator: Administrator, in records: some StorageReader
    ) throws(ServiceError) -> WaitingChange {
        let change = try known(id, in: records)
        guard try change.isSeen(by: administrator, in: records) else {
            throw ServiceError(.notFound, "no change has this id", place: id)
        }
        return change
    }

    /// The change as it stands at a moment.
    fileprivate func seen(at now: Date) -> WaitingChange {
        var seen = self
        seen.state = state(at: now)
        return seen
    }
}
