internal import CordonBase
public import CordonIdentity
internal import CordonPolicy

/// The screens for what Cordon asks and says.
extension GateScreen {
    /// The screen that covers the app.
    public static func cover(of account: AccountID?) -> GateScreen {
        GateScreen(.cover, account: account, title: Texts.screenCoverTitle)
    }

    /// The screen that asks for the PIN.
    public static func pin(_ prompt: PINPrompt) -> GateScreen {
        var lines = [Line(.account, Texts.screenAccount(name: prompt.account.userPrincipalName))]
        if prompt.isFormer { lines.append(Line(.message, Texts.screenPinFormer)) }
        if prompt.lastWasWrong {
            lines.append(Line(.problem, Texts.screenPinWrong(tries: Texts.pinTries(count: prompt.attemptsLeft))))
        }
        if prompt.wait > .zero {
            lines.append(Line(.problem, Texts.screenPinWait(time: Self.text(prompt.wait))))
        }
        var buttons = [Button(.submit, Texts.screenAnswerContinue, isMain: true)]
        switch prompt.biometry {
        case .face?: buttons.append(Button(.recognise, Texts.screenAnswerFace))
        case .finger?: buttons.append(Button(.recognise, Texts.screenAnswerFinger))
        case nil: break
        }
        buttons.append(Button(.forgotPIN, Texts.screenAnswerForgotPIN))
        if prompt.canCancel { buttons.append(Button(.cancel, Texts.screenAnswerCancel)) }
        return GateScreen(
            .pin, account: prompt.account.id, title: Texts.screenPinTitle, lines: lines,
            field: Field(label: Texts.screenPinField, digitsOnly: prompt.digitsOnly), buttons: buttons,
            wait: prompt.wait)
    }

    /// The screen on which a new PIN is chosen.
    ///
    /// - Parameters:
    ///   - prompt: What the new PIN has to be like.
    ///   - isAgain: Whether it is the screen for typing the PIN a second time.
    public static func newPIN(_ prompt: NewPINPrompt, isAgain: Bool = false) -> GateScreen {
        let isNumeric = prompt.characters == .numeric
        var lines = [Line(.account, Texts.screenAccount(name: prompt.account.userPrincipalName))]
        if !isAgain {
            lines.append(
                Line(
                    .message,
                    isNumeric
                        ? Texts.screenNewPINDigits(count: prompt.minimumLength)
                        : Texts.screenNewPINCharacters(count: prompt.minimumLength)))
            lines += prompt.problems.map { Line(.problem, Self.text($0)) }
        }
        var buttons = [Button(.submit, Texts.screenAnswerContinue, isMain: true)]
        if prompt.canCancel { buttons.append(Button(.cancel, Texts.screenAnswerCancel)) }
        return GateScreen(
            isAgain ? .newPINAgain : .newPIN, account: prompt.account.id,
            title: isAgain ? Texts.screenNewPINRepeat : Texts.screenNewPINTitle, lines: lines,
            field: Field(label: Texts.screenPinField, digitsOnly: isNumeric), buttons: buttons)
    }

    /// The screen that asks for a fresh sign-in.
    public static func signIn(_ prompt: SignInPrompt) -> GateScreen {
        var buttons = [Button(.signIn, Texts.screenAnswerSignIn, isMain: true)]
        if prompt.canCancel { buttons.append(Button(.cancel, Texts.screenAnswerCancel)) }
        return GateScreen(
            .signIn, account: prompt.account.id, title: Texts.screenSignInTitle,
            lines: [
                Line(.message, prompt.message),
                Line(.remedy, Texts.screenSignInAs(name: prompt.account.userPrincipalName)),
            ], buttons: buttons)
    }

    /// The screen of a notice, with a button for each answer it offers, and one to close it where it offers none.
    public static func notice(_ notice: ProtectionNotice) -> GateScreen {
        let answers = notice.answers.isEmpty ? [.cancel] : notice.answers
        return GateScreen(
            .notice(notice.kind), account: notice.account, title: notice.title,
            lines: notice.causes.flatMap { cause in
                [Line(.message, cause.message), Line(.remedy, cause.remedy)].filter { !$0.text.isEmpty }
            },
            buttons: answers.enumerated().map { index, answer in
                Button(.answer(answer), label(of: answer), isMain: index == 0)
            })
    }

    /// The screen that says how long the account may still be without contact.
    public static func countdown(_ countdown: OfflineCountdown) -> GateScreen {
        let close = Self.text(countdown.untilBlock)
        let text =
            countdown.untilWipe.map {
                Texts.screenCountdownWipe(later: Self.text($0), time: close)
            } ?? Texts.screenCountdownBlock(time: close)
        return GateScreen(
            .countdown, account: countdown.account, title: Texts.screenCountdownTitle,
            lines: [Line(.message, text)],
            buttons: [Button(.answer(.goOn), Texts.screenAnswerContinue, isMain: true)])
    }

    private static func label(of answer: NoticeAnswer) -> String {
        switch answer {
        case .goOn: Texts.screenAnswerContinue
        case .tryAgain: Texts.screenAnswerTryAgain
        case .cancel: Texts.screenAnswerCancel
        }
    }
}

extension PINPrompt {
    /// Why the device is asked to recognise the person, for the system's dialog.
    public var reason: String { Texts.screenPinReason(name: account.userPrincipalName) }
}
