internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import Foundation
internal import Logging

/// The line to the service that an app in front keeps open for an account: an event stream, and a check-in whenever one is due or the
/// service says that something changed.
actor ServiceLine {
    private let context: ProtectionContext
    private let service: ServiceAccess
    private let checkIns: CheckIns

    init(_ context: ProtectionContext, service: ServiceAccess, checkIns: CheckIns) {
        self.context = context
        self.service = service
        self.checkIns = checkIns
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { context.domain.unownedExecutor }

    private var configuration: ProtectionConfiguration { context.configuration }

    /// Stays in touch with the service while the app is in front; see ``AppProtection/stayInTouch(for:)``.
    func stayInTouch(for account: AccountID) async {
        // An extension goes by what its app has been told: its check-ins would be refused, one a second once the app's is due.
        guard !configuration.isExtension else { return }
        let account = context.accounts.resolved(account)
        await withTaskGroup { group in
            group.addTask { await self.keepListening(for: account) }
            group.addTask { await self.checkInWhenDue(account) }
            // Either ends with the enrolment; a stream that is quiet does not notice.
            _ = await group.next()
            group.cancelAll()
        }
    }

    private func keepListening(for account: AccountID) async {
        var failures = 0
        var budget = Intervals.eventBudget(at: uptime)
        while !Task.isCancelled, context.accounts[account] != nil {
            failures = await listen(for: account, within: &budget) ? 0 : failures + 1
            guard !Task.isCancelled, context.accounts[account] != nil else { return }
            try? await configuration.clock.sleep(context.intervals.reconnection(after: failures))
        }
    }

    /// Looks again every minute at the latest, because a clock may be set, and a check-in may have come in between.
    private func checkInWhenDue(_ account: AccountID) async {
        while !Task.isCancelled, let record = context.accounts[account] {
            let wait = record.nextCheckIn.timeIntervalSince(configuration.clock.now())
            do { try await configuration.clock.sleep(.seconds(min(max(wait, 1), 60))) } catch { return }
            if let record = context.accounts[account], checkIns.isDue(record) { await checkIns.checkIn(account) }
        }
    }

    /// Reads one event stream to its end; whether it was of use. One that ends at once and brings no news, as behind a proxy that lets none
    /// through, or whose service answers no check-in, is no better than one that cannot be opened: each opening costs a check-in.
    private func listen(for account: AccountID, within budget: inout TokenBucket) async -> Bool {
        guard let record = context.accounts[account] else { return false }
        var began: Duration?
        var bringsNews = false
        do {
            let session = try await service.session(for: account, discovery: record.discovery)
            let stream = try await session.client.events(
                registration: record.registrationID, token: session.token, after: record.lastEventID)
            // What happened between the last check-in and the opening of the stream is asked for once.
            await checkIns.checkIn(account)
            began = configuration.clock.boot().uptime
            var parser = EventStreamParser()
            for try await piece in stream.body {
                let messages = try parser.messages(after: piece)
                // One check-in answers all that was told before it began.
                if let message = messages.last(where: { ServiceEvent.Kind(rawValue: $0.event) != nil }) {
                    let wait = budget.spend(at: uptime)
                    if wait > 0 { try await configuration.clock.sleep(.seconds(wait)) }
                    if await react(to: message, for: account) { bringsNews = true }
                }
                if context.accounts[account] == nil { break }
            }
        } catch {
            configuration.logger.debug("the event stream ended", metadata: ["reason": "\(error)"])
            if case .refused(let problem)? = error as? ServiceFailure, problem.status == 400 {
                noteEvent(nil, of: account)
            }
            // A stream that is refused to this key, or for good, is mended by the check-in that finds out why; one that found
            // out before has its own pause.
            if case .refused(let problem)? = error as? ServiceFailure, [403, 410].contains(problem.status),
                let record = context.accounts[account], record.failures == 0 || checkIns.isDue(record)
            {
                await checkIns.checkIn(account)
            }
        }
        guard let began, context.accounts[account]?.failures == 0 else { return false }
        return bringsNews || configuration.clock.boot().uptime - began >= Intervals.lastingStream
    }

    private var uptime: Double { configuration.clock.boot().uptime / .seconds(1) }

    /// Looks what an event is about; whether it is another one than the last that was noted.
    private func react(to message: EventStreamParser.Message, for account: AccountID) async -> Bool {
        let (known, last) = (context.accounts[account]?.envelope.digest, context.accounts[account]?.lastEventID)
        await checkIns.checkIn(account)
        // Rules are in force now, and the service is told; else it would hear only with the next check-in, hours later.
        if let digest = context.accounts[account]?.envelope.digest, digest != known { await checkIns.checkIn(account) }
        // The id is unsigned: without this check, one forged answer would be sent back for ever.
        guard let id = message.lastEventID.flatMap({ Int64($0) }), id >= 0 else { return false }
        noteEvent(String(id), of: account)
        return String(id) != last
    }

    /// Notes where to go on in the event stream; nil where the service does not know the place.
    private func noteEvent(_ id: String?, of account: AccountID) {
        guard let record = context.accounts[account], record.lastEventID != id else { return }
        do { try context.accounts.change(account) { $0.lastEventID = id } } catch {
            configuration.logger.error("the place in the event stream could not be noted")
        }
    }
}
