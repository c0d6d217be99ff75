internal import CordonIdentity
internal import Foundation

/// The documented restart, for apps that were written for it (SDK-RS-01…06). Cordon applies every rule at once.
extension AppProtection {
    /// What an app that shows a dialog of its own may say (SDK-RS-06).
    public static let restartMessage =
        "Your organisation now protects its data in this app. Restart the app to see it as your organisation wants it."

    /// Calls the app back after the first rules of an account, or after its replacement (SDK-RS-04); one that never answers is left alone.
    func adviseRestart(_ account: AccountID) {
        guard let restart = configuration.restartApplication else { return }
        let (clock, broadcast) = (configuration.clock, broadcast)
        Task {
            let isSeenTo = await Deadline.answer(within: .seconds(60), by: clock) { await restart(account) }
            if isSeenTo != true { broadcast.post(.restartAdvised(account: account)) }
        }
    }
}
