internal import CordonSignIn
internal import Foundation
internal import Logging

extension Broker {
    /// How often ``keepTime()`` looks at the clock.
    private static let beat: Duration = .seconds(1)

    /// Ends sessions by idle time and shift end and delivers revocations, until the task is cancelled (SI-159).
    public func keepTime() async {
        while !Task.isCancelled {
            do { try await environment.sleep(Self.beat) } catch { return }
            await tick()
        }
    }

    /// Looks at the clock once.
    public func tick() async {
        let now = environment.now()
        if now >= nextDelivery || now < nextDelivery.addingTimeInterval(-86_400) { await deliver() }
        guard let account = state.account else { return }
        // A clock that was set back must not prolong the session.
        if lastActivity > now { lastActivity = now }
        let idle = configuration.maximumIdle.map { lastActivity.addingTimeInterval(Self.seconds($0)) }
        let shift = configuration.maximumSession.map { account.began.addingTimeInterval(Self.seconds($0)) }
        guard let end = [idle, shift].compactMap({ $0 }).min() else { return }
        if now >= end {
            logger.notice("a session is ended because nobody works or the shift is over")
            do throws(SignInError) { _ = try await endSession(endingBrowserSession: nil) } catch {
                logger.error("the session could not be ended", metadata: ["fault": "\(error.fault.rawValue)"])
            }
        } else if now >= end.addingTimeInterval(-Self.seconds(configuration.warning)) {
            if warnedSession != account.session {
                warnedSession = account.session
                post(.signOutSoon)
            }
        } else {
            warnedSession = nil
        }
    }

    /// Tells the provider of sessions that have ended.
    func deliver() async {
        nextDelivery = environment.now().addingTimeInterval(Self.seconds(configuration.revocationInterval))
        do throws(SignInError) {
            let waiting = try await client.deliverRevocations()
            if waiting > 0 { logger.info("revocations are waiting", metadata: ["count": "\(waiting)"]) }
        } catch {
            logger.error("the queue of revocations cannot be read")
        }
    }

    private static func seconds(_ duration: Duration) -> TimeInterval {
        TimeInterval(duration.components.seconds) + TimeInterval(duration.components.attoseconds) / 1e18
    }
}
