package import Cordon
internal import CordonBase

extension GateScreen {
    /// The cover after a gate was not passed: from here it is tried again.
    package static func coverToTryAgain(of account: AccountID?) -> GateScreen {
        let cover = GateScreen.cover(of: account)
        return GateScreen(
            cover.kind, account: account, title: cover.title, lines: cover.lines,
            buttons: [Button(.answer(.tryAgain), Texts.screenAnswerTryAgain, isMain: true)])
    }
}
