public import Cordon
internal import CordonBase

/// The ``ProtectionInterface`` for apps with screens: it turns everything that Cordon asks into ``GateScreen`` values,
/// one at a time, and what the person does back into answers. Views draw ``screens()`` and call ``answer(_:typed:to:)``. Any thread may call.
///
/// ```swift
/// for await shown in interface.screens() { overlay.screen = shown }
/// interface.answer(.submit, typed: "4711", to: shown.id)
/// ```
/// It passes on what is typed and does not keep it. After a wipe it has nothing of the account.
public final class ScreenInterface: ProtectionInterface {
    /// What was done on a screen.
    enum Reply: Sendable, Equatable {
        case action(GateAction, typed: String)
        case recognised(Biometry)
    }

    private struct Question {
        let number: Int
        let screen: GateScreen
        let reply: CheckedContinuation<Reply?, Never>
    }

    private struct State {
        var lastNumber = 0
        var questions: [Question] = []
        var takenOver: [AccountID?] = []
        var splash: Task<Void, Never>?
        var countdown: ShownScreen?
        var theme = ProtectionTheme()
        var shown: ShownScreen?
        var observers: [Int: AsyncStream<ShownScreen?>.Continuation] = [:]

        /// What is in front now: a question, else the cover while Cordon has taken over, else the countdown.
        var front: ShownScreen? {
            if let question = questions.first { return ShownScreen(id: question.number, screen: question.screen) }
            if let account = takenOver.first {
                var cover = GateScreen.cover(of: account)
                cover.theme = theme
                return ShownScreen(id: 0, screen: cover)
            }
            return countdown
        }
    }

    private let state = Locked(State())
    private let dialogs = Locked<(@Sendable (Bool) async -> Void)?>(nil)
    private let reader: (any BiometryReader)?
    private let signsIn: (@Sendable (SignInPrompt) async -> SignInAnswer)?
    private let pause: @Sendable (Duration) async -> Void

    /// Makes an interface.
    ///
    /// - Parameters:
    ///   - biometry: Recognises the person; with nil, only the PIN will do.
    ///   - signIn: Signs the person in afresh; without it, no fresh sign-in is possible here.
    ///   - pause: Waits, for the splash screen; a test gives its own.
    public init(
        biometry: (any BiometryReader)? = nil,
        signIn: (@Sendable (SignInPrompt) async -> SignInAnswer)? = nil,
        pause: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        reader = biometry
        self.pause = pause
        signsIn = signIn
    }

    // MARK: For views

    /// What to show over the app from now on; nil is the app itself. A slow reader misses only screens that have gone.
    public func screens() -> AsyncStream<ShownScreen?> {
        let (screens, continuation) = AsyncStream.makeStream(
            of: ShownScreen?.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.lastNumber += 1
            state.observers[state.lastNumber] = continuation
            continuation.yield(state.shown)
            return state.lastNumber
        }
        continuation.onTermination = { [state] _ in state.withLock { $0.observers[number] = nil } }
        return screens
    }

    /// What is shown now; nil is the app itself.
    public var current: ShownScreen? { state.withLock { $0.shown } }

    /// Calls a closure before the system's dialog for a face or a finger comes, and when it has gone: the cover of the windows needs it, because the
    /// dialog makes a scene inactive.
    public func tellOfDialogs(_ told: @escaping @Sendable (Bool) async -> Void) { dialogs.withLock { $0 = told } }

    /// Reports what the person did on a screen. An action that the screen does not offer, or one on a screen that has gone, does nothing.
    ///
    /// - Parameters:
    ///   - typed: What is in the screen's field.
    ///   - number: The screen's ``ShownScreen/id``.
    public func answer(_ action: GateAction, typed: String = "", to number: Int) {
        give(.action(action, typed: typed), to: number)
    }

    private func give(_ reply: Reply, to number: Int) {
        let waiting = state.withLock { state -> CheckedContinuation<Reply?, Never>? in
            if state.countdown?.id == number, state.front?.id == number {
                state.countdown = nil
                Self.update(&state)
                return nil
            }
            // Only what is in front can have been answered, and only by what it offers.
            guard let question = state.questions.first, question.number == number else { return nil }
            if case .action(let action, _) = reply, !question.screen.buttons.contains(where: { $0.action == action }) {
                return nil
            }
            state.questions.removeFirst()
            Self.update(&state)
            return question.reply
        }
        waiting?.resume(returning: reply)
    }

    private static func update(_ state: inout State) {
        let front = state.front
        guard front != state.shown else { return }
        state.shown = front
        for observer in state.observers.values { observer.yield(front) }
    }

    // MARK: What Cordon asks

    /// The biometry of the device.
    public var biometry: Biometry? { get async { await reader?.biometry } }

    /// Takes the app's look; a view shows all of it.
    public func adopt(_ theme: ProtectionTheme) -> [String] {
        state.withLock { state in
            state.theme = theme
            Self.update(&state)
        }
        return []
    }

    /// Covers the app; at the start the cover stays as long as the theme wants it (SDK-CL-06).
    public func takeOver(for account: AccountID?, on occasion: LaunchOccasion) {
        state.withLock { [pause] state in
            state.takenOver.append(account)
            state.countdown = nil
            if occasion == .launch {
                state.splash = Task { [length = state.theme.splashDuration] in await pause(length) }
            }
            Self.update(&state)
        }
    }

    /// Uncovers it, when the cover of the start has been there long enough.
    public func handBack(for account: AccountID?) async {
        await state.withLock { $0.splash }?.value
        state.withLock { state in
            if let index = state.takenOver.firstIndex(of: account) { state.takenOver.remove(at: index) }
            Self.update(&state)
        }
    }

    /// Asks for the PIN. Where the device may recognise the person instead, it is asked to at once, and again by the button.
    public func enterPIN(_ prompt: PINPrompt) async -> PINAnswer {
        var screen = GateScreen.pin(prompt)
        var recognises = prompt.biometry != nil
        while true {
            let reply = await reply(to: screen) { [self] number in
                guard recognises, let reader, let biometry = prompt.biometry else { return nil }
                return Task {
                    let told = dialogs.withLock { $0 }
                    await told?(true)
                    let isRecognised = await reader.recognises(because: prompt.reason)
                    await told?(false)
                    if isRecognised { give(.recognised(biometry), to: number) }
                }
            }
            recognises = false
            switch reply {
            case .recognised(let biometry)?: return .recognised(biometry)
            case .action(.submit, let pin)?:
                if pin.isEmpty { continue }
                // What was meant for another field is no guess.
                if prompt.digitsOnly, !pin.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
                    screen = GateScreen.pin(prompt).noting(Texts.screenPinDigitsOnly)
                } else {
                    return .entered(pin)
                }
            case .action(.recognise, _)?: recognises = true
            case .action(.forgotPIN, _)?: return .forgotten
            case .action, nil: return .cancelled
            }
        }
    }

    /// Asks for a new PIN, twice, until both are the same.
    public func choosePIN(_ prompt: NewPINPrompt) async -> NewPINAnswer {
        var screen = GateScreen.newPIN(prompt)
        while true {
            guard case .action(.submit, let first)? = await reply(to: screen) else { return .cancelled }
            if first.isEmpty { continue }
            guard case .action(.submit, let second)? = await reply(to: .newPIN(prompt, isAgain: true)) else {
                return .cancelled
            }
            if first == second { return .chosen(first) }
            screen = GateScreen.newPIN(prompt).noting(Texts.screenNewPINDiffers)
        }
    }

    /// Says why, and begins the sign-in when the person wants it.
    public func signIn(_ prompt: SignInPrompt) async -> SignInAnswer {
        guard let signsIn else { return .unavailable(Texts.screenSignInUnavailable) }
        guard case .action(.signIn, _)? = await reply(to: .signIn(prompt)) else { return .cancelled }
        return await signsIn(prompt)
    }

    /// Shows a notice until it is answered.
    public func present(_ notice: ProtectionNotice) async -> NoticeAnswer {
        guard case .action(.answer(let answer), _)? = await reply(to: .notice(notice)) else { return .cancel }
        return answer
    }

    /// Shows how long the app may be without contact, until it is put away or something else has to be shown.
    public func show(_ countdown: OfflineCountdown) {
        state.withLock { state in
            state.lastNumber += 1
            var screen = GateScreen.countdown(countdown)
            screen.theme = state.theme
            state.countdown = ShownScreen(id: state.lastNumber, screen: screen)
            Self.update(&state)
        }
    }

    /// Shows a screen until the person has done something on it; nil when the asking task is cancelled.
    ///
    /// - Parameter meanwhile: What is done beside it, given the screen's number; cancelled when the screen goes.
    private func reply(
        to screen: GateScreen, meanwhile: (Int) -> Task<Void, Never>? = { _ in nil }
    ) async -> Reply? {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        var beside: Task<Void, Never>?
        defer { beside?.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isCancelled = state.withLock { state in
                    guard !Task.isCancelled else { return true }
                    var screen = screen
                    screen.theme = state.theme
                    state.questions.append(Question(number: number, screen: screen, reply: continuation))
                    Self.update(&state)
                    return false
                }
                if isCancelled { continuation.resume(returning: nil) } else { beside = meanwhile(number) }
            }
        } onCancel: {
            let waiting = state.withLock { state -> CheckedContinuation<Reply?, Never>? in
                guard let index = state.questions.firstIndex(where: { $0.number == number }) else { return nil }
                defer { Self.update(&state) }
                return state.questions.remove(at: index).reply
            }
            waiting?.resume(returning: nil)
        }
    }
}

/// A screen on show; its number tells an answer to it from one to the screen before.
public struct ShownScreen: Sendable, Equatable, Identifiable {
    /// The number to answer to.
    public let id: Int
    /// What is shown.
    public let screen: GateScreen

    /// Names a screen.
    public init(id: Int, screen: GateScreen) {
        self.id = id
        self.screen = screen
    }
}

/// What recognises a person: the device's sensor, or a stand-in.
public protocol BiometryReader: Sendable {
    /// What it recognises now; nil where there is none, nothing is enrolled, or it is locked.
    var biometry: Biometry? { get async }

    /// Whether the person was recognised; false also when they cancelled. Takes as long as the person does, and ends soon after the
    /// calling task is cancelled.
    func recognises(because reason: String) async -> Bool
}
