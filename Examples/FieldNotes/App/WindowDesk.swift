import Cordon
import CordonIdentity
import CordonPolicy

/// What the app does when Cordon wants a window to show another account's notes: these windows are lines of text, so that there is
/// nothing to close, and the person is told.
struct WindowDesk: IdentityDelegate {
    let screen: Screen
    let names: KnownNames

    func identitySwitchRequired(_ request: IdentityRequest, answer: IdentityAnswer) async throws {
        answer.succeed()
    }

    func hideAccount(
        _ account: AccountID, in window: WindowID, because block: AccountBlock, answer: IdentityAnswer
    ) async throws {
        screen.tell(
            "hidden", "\(await names.name(of: account))'s notes are off the screen in \(window): \(block.rawValue)",
            [
                "account": .string(account.rawValue), "window": .string(window.rawValue),
                "because": .string(block.rawValue),
            ])
        answer.succeed()
    }
}
