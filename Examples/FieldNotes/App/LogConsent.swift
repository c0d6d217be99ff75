import CordonIdentity
import CordonPolicy
import Foundation

/// Asks the person whether an administrator may have this app's log, and waits for `logs yes` or `logs no`.
actor LogConsent {
    private let screen: Screen
    private var content: Data?
    private var waiting: CheckedContinuation<Bool, Never>?
    private var asks = 0

    init(_ screen: Screen) {
        self.screen = screen
    }

    /// Tells the person of a request and waits for the answer, for as long as the request stands.
    func ask(_ account: ManagedAccount, _ content: Data) async -> Bool {
        answer(false)
        asks += 1
        let number = asks
        self.content = content
        screen.tell(
            "logsRequested",
            "the organisation of \(account.userPrincipalName) asks for this app's log: `logs show`, `logs yes` or `logs no`",
            ["account": .string(account.id.rawValue), "bytes": .integer(Int64(content.count))])
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiting = $0 }
        } onCancel: {
            Task { await self.giveUp(number) }
        }
    }

    private func giveUp(_ number: Int) {
        if number == asks { answer(false) }
    }

    /// What would be sent; nil where nothing was asked for.
    var shown: Data? { waiting == nil ? nil : content }

    /// Takes the answer; false where nothing was asked for.
    @discardableResult
    func answer(_ isAgreed: Bool) -> Bool {
        guard let waiting else { return false }
        self.waiting = nil
        content = nil
        waiting.resume(returning: isAgreed)
        return true
    }
}
