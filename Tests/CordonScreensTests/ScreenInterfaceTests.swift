import Cordon
import CordonBase
import CordonScreens
import CordonTesting
import Testing

/// What a person sees and does, as values: no view is needed to try any of it.
@Suite struct ScreenInterfaceTests {
    private let account = ManagedAccount(
        id: "oid-a", tenant: TenantID("tenant"), userPrincipalName: "amal@contoso.example")

    private func pin(
        digitsOnly: Bool = true, wrong: Bool = false, wait: Duration = .zero, biometry: Biometry? = nil,
        canCancel: Bool = true
    ) -> PINPrompt {
        PINPrompt(
            account: account, digitsOnly: digitsOnly, attemptsLeft: 3, lastWasWrong: wrong, wait: wait,
            biometry: biometry, canCancel: canCancel)
    }

    private func newPIN() -> NewPINPrompt {
        NewPINPrompt(
            account: account, minimumLength: 4, characters: .numeric, simpleIsBlocked: true,
            problems: [.tooSimple], canCancel: true)
    }

    /// Waits for a screen of a kind, and gives it.
    private func screen(_ kind: GateScreen.Kind, of interface: ScreenInterface) async throws -> ShownScreen {
        try await until { interface.current?.screen.kind == kind }
        return try #require(interface.current)
    }

    @Test func `a typed PIN is the answer, and the app is back in front`() async throws {
        let interface = ScreenInterface()
        async let answer = interface.enterPIN(pin())
        let shown = try await screen(.pin, of: interface)
        interface.answer(.submit, typed: "4711", to: shown.id)
        #expect(await answer == .entered("4711"))
        #expect(interface.current == nil)
    }

    @Test func `letters in a PIN of digits are no guess, and the screen says so`() async throws {
        let interface = ScreenInterface()
        async let answer = interface.enterPIN(pin())
        let first = try await screen(.pin, of: interface)
        interface.answer(.submit, typed: "47a1", to: first.id)
        try await until { interface.current.map { $0.id != first.id } ?? false }
        let second = try #require(interface.current)
        #expect(second.screen.lines.last == GateScreen.Line(.problem, "The PIN has digits only; that was not tried."))
        interface.answer(.cancel, to: second.id)
        #expect(await answer == .cancelled)
    }

    @Test func `an answer to a screen that has gone does nothing to the one after it`() async throws {
        let interface = ScreenInterface()
        async let first = interface.enterPIN(pin())
        let shown = try await screen(.pin, of: interface)
        interface.answer(.submit, typed: "1", to: shown.id)
        _ = await first
        async let second = interface.enterPIN(pin(wrong: true))
        let next = try await screen(.pin, of: interface)
        interface.answer(.submit, typed: "1", to: shown.id)
        #expect(interface.current == next)
        interface.answer(.forgotPIN, to: next.id)
        #expect(await second == .forgotten)
    }

    @Test func `an action that the screen does not offer is none`() async throws {
        let interface = ScreenInterface()
        async let answer = interface.enterPIN(pin(canCancel: false))
        let shown = try await screen(.pin, of: interface)
        interface.answer(.cancel, to: shown.id)
        interface.answer(.recognise, to: shown.id)
        interface.answer(.answer(.goOn), to: shown.id)
        #expect(interface.current == shown)
        interface.answer(.submit, typed: "4711", to: shown.id)
        #expect(await answer == .entered("4711"))
    }

    @Test func `a question whose time is over leaves the screen`() async throws {
        let interface = ScreenInterface()
        let asking = Task { await interface.enterPIN(pin()) }
        _ = try await screen(.pin, of: interface)
        asking.cancel()
        #expect(await asking.value == .cancelled)
        #expect(interface.current == nil)
    }

    @Test func `two accounts are asked one after the other`() async throws {
        let interface = ScreenInterface()
        let notice = ProtectionNotice(.warning, account: "oid-b", causes: [.init(message: "m", remedy: "r")])
        async let first = interface.enterPIN(pin())
        let shown = try await screen(.pin, of: interface)
        async let second = interface.present(notice)
        interface.answer(.submit, typed: "4711", to: shown.id)
        #expect(await first == .entered("4711"))
        let next = try await screen(.notice(.warning), of: interface)
        #expect(next.screen.account == "oid-b")
        interface.answer(.answer(.goOn), to: next.id)
        #expect(await second == .goOn)
    }

    @Test func `the device is asked for the face at once, and again by the button`() async throws {
        let sensor = Sensor()
        let interface = ScreenInterface(biometry: sensor)
        async let answer = interface.enterPIN(pin(biometry: .face))
        let shown = try await screen(.pin, of: interface)
        try await until { sensor.asked == 1 }
        #expect(shown.screen.buttons.map(\.label) == ["Continue", "Use Face ID", "Forgot PIN", "Cancel"])
        sensor.finish(false)
        #expect(interface.current == shown)
        interface.answer(.recognise, to: shown.id)
        try await until { sensor.asked == 2 }
        sensor.finish(true)
        #expect(await answer == .recognised(.face))
    }

    @Test func `a face that is recognised too late for its screen opens nothing`() async throws {
        let sensor = Sensor()
        let interface = ScreenInterface(biometry: sensor)
        async let first = interface.enterPIN(pin(biometry: .face))
        let shown = try await screen(.pin, of: interface)
        try await until { sensor.asked == 1 }
        interface.answer(.cancel, to: shown.id)
        #expect(await first == .cancelled)
        async let second = interface.enterPIN(pin())
        let next = try await screen(.pin, of: interface)
        sensor.finish(true)
        interface.answer(.submit, typed: "4711", to: next.id)
        #expect(await second == .entered("4711"))
    }

    @Test func `a new PIN is typed twice, and one that differs is asked for again`() async throws {
        let interface = ScreenInterface()
        async let answer = interface.choosePIN(newPIN())
        var shown = try await screen(.newPIN, of: interface)
        #expect(shown.screen.lines.map(\.role) == [.account, .message, .problem])
        interface.answer(.submit, typed: "4711", to: shown.id)
        shown = try await screen(.newPINAgain, of: interface)
        interface.answer(.submit, typed: "4712", to: shown.id)
        shown = try await screen(.newPIN, of: interface)
        #expect(shown.screen.lines.last?.text == "The two PINs do not match.")
        interface.answer(.submit, typed: "0815", to: shown.id)
        shown = try await screen(.newPINAgain, of: interface)
        interface.answer(.submit, typed: "0815", to: shown.id)
        #expect(await answer == .chosen("0815"))
    }

    @Test func `the cover of the start stays as long as the theme wants`() async throws {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let lengths = Locked<[Duration]>([])
        let interface = ScreenInterface(pause: { length in
            lengths.withLock { $0.append(length) }
            for await _ in ends { return }
        })
        var theme = ProtectionTheme()
        theme.splashDuration = .seconds(3)
        #expect(interface.adopt(theme).isEmpty)
        interface.takeOver(for: account.id, on: .launch)
        #expect(interface.current?.screen.kind == .cover)
        #expect(interface.current?.screen.theme == theme)
        let back = Task { await interface.handBack(for: account.id) }
        try await until { lengths.withLock { $0 } == [.seconds(3)] }
        #expect(interface.current?.screen.kind == .cover)
        end.yield()
        await back.value
        #expect(interface.current == nil)
    }

    @Test func `between two questions the app stays covered`() async throws {
        let interface = ScreenInterface()
        interface.takeOver(for: account.id, on: .resume)
        async let answer = interface.enterPIN(pin())
        let shown = try await screen(.pin, of: interface)
        interface.answer(.submit, typed: "4711", to: shown.id)
        _ = await answer
        #expect(interface.current?.screen.kind == .cover)
        await interface.handBack(for: account.id)
        #expect(interface.current == nil)
    }

    @Test func `a sign-in begins when the person wants it`() async throws {
        let interface = ScreenInterface { .signedIn($0.account.id) }
        async let answer = interface.signIn(
            SignInPrompt(account: account, message: "The PIN is forgotten.", canCancel: true))
        let shown = try await screen(.signIn, of: interface)
        #expect(shown.screen.announcement == "Sign in again. The PIN is forgotten. Sign in as amal@contoso.example.")
        interface.answer(.signIn, to: shown.id)
        #expect(await answer == .signedIn("oid-a"))
    }

    @Test func `without a way to sign in there is no fresh sign-in`() async {
        let answer = await ScreenInterface().signIn(SignInPrompt(account: account, message: "", canCancel: true))
        #expect(answer == .unavailable("This app has no way to sign in."))
    }

    @Test func `a block stands with its cause and its remedy, and every answer has a button`() {
        let screen = GateScreen.notice(
            ProtectionNotice(
                .blocked, account: account.id,
                causes: [.init(message: "The system is too old.", remedy: "Update it.")],
                answers: [.tryAgain, .cancel]))
        #expect(
            screen.lines == [
                GateScreen.Line(.message, "The system is too old."), GateScreen.Line(.remedy, "Update it."),
            ])
        #expect(screen.buttons.map(\.action) == [.answer(.tryAgain), .answer(.cancel)])
        #expect(screen.buttons.map(\.isMain) == [true, false])
    }

    @Test func `a wrong PIN says how many tries are left and how long to wait`() {
        let screen = GateScreen.pin(pin(wrong: true, wait: .seconds(45)))
        #expect(
            screen.lines.filter { $0.role == .problem }.map(\.text) == [
                "Wrong PIN; 3 tries left.", "Wait 45 seconds before the next try.",
            ])
        #expect(screen.wait == .seconds(45))
    }

    @Test func `a countdown is put away by its button, and goes when something is asked`() async throws {
        let interface = ScreenInterface()
        let countdown = OfflineCountdown(
            account: account.id, offline: .seconds(60), blockAfter: .seconds(240), wipeAfter: .zero)
        interface.show(countdown)
        let shown = try await screen(.countdown, of: interface)
        #expect(
            shown.screen.lines.map(\.text) == [
                "Without contact to the organisation this account's data closes in 3 minutes."
            ])
        interface.answer(.answer(.goOn), to: shown.id)
        #expect(interface.current == nil)
        interface.show(countdown)
        interface.takeOver(for: account.id, on: .timer)
        await interface.handBack(for: account.id)
        #expect(interface.current == nil)
    }

    @Test func `a view that begins to look late sees what is shown now`() async throws {
        let interface = ScreenInterface()
        interface.takeOver(for: nil, on: .resume)
        var screens = interface.screens().makeAsyncIterator()
        #expect(await screens.next()??.screen.kind == .cover)
        await interface.handBack(for: nil)
        #expect(await screens.next() == .some(nil))
    }
}

/// A sensor that a test answers for.
private final class Sensor: BiometryReader {
    private let state = Locked<(asked: Int, waiting: [CheckedContinuation<Bool, Never>])>((0, []))

    var biometry: Biometry? { .face }
    var asked: Int { state.withLock { $0.asked } }

    func recognises(because reason: String) async -> Bool {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.asked += 1
                state.waiting.append(continuation)
            }
        }
    }

    func finish(_ isRecognised: Bool) {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one.resume(returning: isRecognised) }
    }
}
