public import Cordon
internal import CordonBase

/// The interface for programs in a terminal: one line of text at a time, both ways.
///
/// The program passes in reading and writing, so it can read its own commands from the same input, and a test can type.
public struct TerminalInterface: ProtectionInterface {
    /// Reads one line; `hidden` asks that what is typed be not shown. Nil when the input has ended.
    public typealias Reader = @Sendable (_ hidden: Bool) async -> String?

    private let read: Reader
    private let write: @Sendable (String) -> Void
    private let signsIn: (@Sendable (SignInPrompt) async -> SignInAnswer)?
    private let usesColor: Bool
    private let accent = Locked<ProtectionTheme.Color?>(nil)

    /// Makes an interface.
    ///
    /// - Parameters:
    ///   - read: Reads one line; see ``read(from:)`` for standard input.
    ///   - write: Shows one line.
    ///   - usesColor: Whether the terminal shows colours and the person wants them (`NO_COLOR`).
    ///   - signIn: Signs the person in afresh; without it, no fresh sign-in is possible here.
    public init(
        read: @escaping Reader, write: @escaping @Sendable (String) -> Void, usesColor: Bool = false,
        signIn: (@Sendable (SignInPrompt) async -> SignInAnswer)? = nil
    ) {
        self.read = read
        self.write = write
        self.usesColor = usesColor
        signsIn = signIn
    }

    /// A terminal has no biometry.
    public var biometry: Biometry? { nil }

    /// Takes the accent colour where colours are shown, and says what a terminal cannot show.
    public func adopt(_ theme: ProtectionTheme) -> [String] {
        var refused: [String] = []
        func refuse(_ what: String, _ isSet: Bool) {
            if isSet { refused.append(Texts.terminalRefused(what: what)) }
        }
        let usual = ProtectionTheme()
        refuse(Texts.terminalSplashPicture, theme.splashIcon != nil)
        refuse(Texts.terminalSplashScreen, theme.splashDuration != usual.splashDuration)
        refuse(Texts.terminalLightAndDark, theme.supportsDarkMode != usual.supportsDarkMode)
        refuse(Texts.terminalBackground, theme.background != nil)
        refuse(Texts.terminalTextColour, theme.foreground != nil)
        refuse(Texts.terminalSideAreas, theme.secondaryBackground != nil || theme.secondaryForeground != nil)
        refuse(Texts.terminalAccentWithoutColours, theme.accent != nil && !usesColor)
        let color = usesColor ? theme.accent : nil
        accent.withLock { $0 = color }
        return refused
    }

    /// Says that Cordon asks now, and for whom where the account goes by its sign-in name.
    public func takeOver(for account: AccountID?, on occasion: LaunchOccasion) {
        // An object id tells a person nothing, and what is asked next names the account.
        guard let name = account?.rawValue, name.contains("@") else { return say(accented: Texts.terminalTakeOver) }
        say(accented: Texts.terminalTakeOverFor(account: name))
    }

    /// Says that the app goes on.
    public func handBack(for account: AccountID?) {
        say(accented: "──")
    }

    /// Asks for the PIN; an empty line cancels, `?` says that it is forgotten.
    public func enterPIN(_ prompt: PINPrompt) async -> PINAnswer {
        for line in GateScreen.pin(prompt).lines where line.role != .account { say(line.text) }
        let name = prompt.account.userPrincipalName
        let request = prompt.canCancel ? Texts.terminalEnterPinOrCancel(name: name) : Texts.terminalEnterPin(name: name)
        while true {
            say(request)
            switch await read(true) {
            case nil, ""?: return .cancelled
            case "?"?: return .forgotten
            case let pin? where !prompt.digitsOnly || pin.utf8.allSatisfy { (0x30...0x39).contains($0) }:
                return .entered(pin)
            default:
                // A command that was typed too early is no guess.
                say(Texts.screenPinDigitsOnly)
            }
        }
    }

    /// Asks for a new PIN twice; an empty line in place of the first one cancels.
    public func choosePIN(_ prompt: NewPINPrompt) async -> NewPINAnswer {
        for line in GateScreen.newPIN(prompt).lines where line.role == .problem { say(line.text) }
        let (name, minimum) = (prompt.account.userPrincipalName, prompt.minimumLength)
        let request =
            prompt.characters == .numeric
            ? Texts.terminalNewPinOfDigits(minimum: minimum, name: name)
            : Texts.terminalNewPin(minimum: minimum, name: name)
        while true {
            say(request)
            guard let first = await read(true), !first.isEmpty else { return .cancelled }
            say(Texts.terminalNewPinAgain)
            guard let second = await read(true) else { return .cancelled }
            if first == second { return .chosen(first) }
            say(Texts.screenNewPINDiffers)
        }
    }

    /// Says why, and leaves the signing in to the closure it was made with.
    public func signIn(_ prompt: SignInPrompt) async -> SignInAnswer {
        say(Texts.terminalSignIn(message: prompt.message, name: prompt.account.userPrincipalName))
        guard let signsIn else { return .unavailable(Texts.terminalNoSignIn) }
        return await signsIn(prompt)
    }

    /// Shows a notice; where there is a choice, reads the number of an answer.
    public func present(_ notice: ProtectionNotice) async -> NoticeAnswer {
        say(accented: notice.title)
        for cause in notice.causes { say("• \(cause.message) \(cause.remedy)") }
        guard notice.answers.count > 1 else { return notice.answers.first ?? .cancel }
        let choices = notice.answers.enumerated().map { "\($0.offset + 1) \(Self.text($0.element))" }
        while true {
            say(choices.joined(separator: ", ") + ":")
            guard let line = await read(false) else { return .cancel }
            if let number = Int(line), notice.answers.indices.contains(number - 1) { return notice.answers[number - 1] }
            say(Texts.terminalTypeNumber)
        }
    }

    /// Shows how long the app may still be without contact.
    public func show(_ countdown: OfflineCountdown) {
        for line in GateScreen.countdown(countdown).lines { say(line.text) }
    }

    /// Shows a report of ``ProtectionDiagnostics/report()``, when the person asks for it (SDK-LG-03).
    public func show(_ report: DiagnosticReport) {
        say(accented: Texts.terminalDiagnostics)
        for line in report.lines { say(line) }
        say(accented: "──")
    }

    private static func text(_ answer: NoticeAnswer) -> String {
        switch answer {
        case .goOn: Texts.answerGoOn
        case .tryAgain: Texts.answerTryAgain
        case .cancel: Texts.answerCancel
        }
    }

    /// Shows one line. Names, titles and messages come from providers, administrators and other people: none of them may do
    /// anything to the terminal but be read.
    private func say(_ line: String) { write(TerminalText(line).text) }

    private func say(accented line: String) {
        guard let color = accent.withLock({ $0 }) else { return say(line) }
        write("\u{1B}[38;2;\(color.red);\(color.green);\(color.blue)m\(TerminalText(line))\u{1B}[0m")
    }
}
