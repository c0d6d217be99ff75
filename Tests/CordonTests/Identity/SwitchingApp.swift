import Cordon
import CordonBase
import CordonIdentity
import CordonPolicy
import Foundation

/// An app that answers requests as a test wants, and the clock that it races with.
final class SwitchingApp: IdentityDelegate {
    enum Manner: Sendable { case yes, no, never, twice, throwing, later }
    struct Failed: Error {}

    private let state = Locked(([IdentityRequest](), [IdentityAnswer](), [AccountID]()))
    private let heardSenders = Locked<[AccountID?]>([])
    /// How long it may take to answer.
    static let limit = Duration.seconds(17)
    let manner: Manner
    /// Whether it has a way of its own to hide an account.
    let hides: Bool

    init(_ manner: Manner, hides: Bool = false) {
        self.manner = manner
        self.hides = hides
    }

    var requests: [IdentityRequest] { state.withLock { $0.0 } }
    var answers: [IdentityAnswer] { state.withLock { $0.1 } }
    var hidden: [AccountID] { state.withLock { $0.2 } }
    /// Who had sent what it was asked to switch for.
    var senders: [AccountID?] { heardSenders.withLock { $0 } }

    /// A clock by which the limit for an answer has passed at once when there will be none, and never otherwise.
    var clock: ProtectionClock {
        ProtectionClock(
            now: { Date() },
            sleep: { [manner] duration in
                if manner == .never, duration == Self.limit { return }
                try await Task.sleep(for: .seconds(86_400))
            })
    }

    func identitySwitchRequired(_ request: IdentityRequest, answer: IdentityAnswer) async throws {
        state.withLock { $0.0.append(request) }
        heardSenders.withLock { $0.append(IdentityContext.currentSender) }
        try respond(answer)
    }

    func hideAccount(
        _ account: AccountID, in window: WindowID, because block: AccountBlock, answer: IdentityAnswer
    ) async throws {
        state.withLock { $0.2.append(account) }
        guard hides else {
            return try await identitySwitchRequired(
                IdentityRequest(identity: .personal, window: window, reason: .cancelledLaunch), answer: answer)
        }
        try respond(answer)
    }

    private func respond(_ answer: IdentityAnswer) throws {
        state.withLock { $0.1.append(answer) }
        switch manner {
        case .yes: answer.succeed()
        case .no: answer.fail()
        case .never: break
        case .twice:
            answer.fail()
            answer.succeed()
        case .throwing: throw Failed()
        case .later: Thread.detachNewThread { answer.succeed() }
        }
    }
}

/// A gate that answers as a test wants, and notes who came.
final class ScriptedGate: Sendable {
    private let visits = Locked([AccountID]())
    private let answers: [AccountID: SwitchGateAnswer]

    init(_ answers: [AccountID: SwitchGateAnswer] = [:]) { self.answers = answers }

    var visitors: [AccountID] { visits.withLock { $0 } }

    func pass(_ account: AccountID) -> SwitchGateAnswer {
        visits.withLock { $0.append(account) }
        return answers[account] ?? .passed
    }
}
