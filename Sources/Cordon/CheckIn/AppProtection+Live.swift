public import CordonIdentity
internal import CordonProtocol
internal import CordonSignIn
internal import Foundation
internal import Logging

extension AppProtection {
    /// Stays in touch with the service while the app is in front: an open event stream for an account, and a check-in
    /// whenever it says that something changed, or when one is due, whether or not the stream says anything.
    ///
    /// Returns when the calling task is cancelled or the account is no longer enrolled. A stream that breaks is opened
    /// again after growing pauses (SRV-CI-067).
    public func stayInTouch(for account: AccountID) async {
        let account = resolved(account)
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
        while !Task.isCancelled, records[account] != nil {
            if await listen(for: account) { failures = 0 } else { failures += 1 }
            guard !Task.isCancelled, records[account] != nil else { return }
            try? await configuration.clock.sleep(Self.pause(after: failures))
        }
    }

    /// Looks again every minute at the latest, because a clock may be set, and a check-in may have come in between.
    private func checkInWhenDue(_ account: AccountID) async {
        while !Task.isCancelled, let record = records[account] {
            let wait = record.nextCheckIn.timeIntervalSince(configuration.clock.now())
            do { try await configuration.clock.sleep(.seconds(min(max(wait, 1), 60))) } catch { return }
            if let record = records[account], isDue(record) { await checkIn(account) }
        }
    }

    /// Pauses between attempts while the service cannot be reached: short at first, because a service that restarts is
    /// back in seconds; at most a quarter of an hour.
    static func pause(after failures: Int) -> Duration {
        let seconds = [1, 2, 5, 10, 30, 60, 120, 300, 900]
        return .seconds(seconds[min(max(failures - 1, 0), seconds.count - 1)])
    }

    /// Reads one event stream to its end; whether it could be opened.
    private func listen(for account: AccountID) async -> Bool {
        guard let record = records[account] else { return false }
        var wasOpened = false
        do {
            let session = try await session(for: account, discovery: record.discovery)
            let stream = try await session.client.events(
                registration: record.registrationID, token: session.token, after: record.lastEventID)
            wasOpened = true
            // What happened between the last check-in and the opening of the stream is asked for once.
            await checkIn(account)
            var parser = EventStreamParser()
            for try await piece in stream.body {
                for message in try parser.messages(after: piece) { await react(to: message, for: account) }
                if records[account] == nil { break }
            }
            return true
        } catch {
            configuration.logger.debug("the event stream ended", metadata: ["reason": "\(error)"])
            // A stream that is refused to this key, or for good, is mended by the check-in that finds out why; one that found
            // out before has its own pause.
            if case .refused(let problem)? = error as? ServiceFailure, [403, 410].contains(problem.status),
                let record = records[account], record.failures == 0 || isDue(record)
            {
                await checkIn(account)
            }
            return wasOpened
        }
    }

    private func react(to message: EventStreamParser.Message, for account: AccountID) async {
        guard ServiceEvent.Kind(rawValue: message.event) != nil else { return }
        await checkIn(account)
        guard var record = records[account], let id = message.lastEventID else { return }
        record.lastEventID = id
        do { try accounts.keep(record) } catch { configuration.logger.error("the place in the event stream could not be noted") }
    }
}
