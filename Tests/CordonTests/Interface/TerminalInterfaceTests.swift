import Cordon
import CordonBase
import CordonPolicy
import CordonTerminal
import Foundation
import Testing

/// The interface in a terminal: what is typed and what is shown, line by line.
@Suite(.timeLimit(.minutes(10))) struct TerminalInterfaceTests {
    /// A terminal with typed lines, and everything that was shown.
    private final class Typed: Sendable {
        private let state: Locked<(lines: [String], shown: [String], hidden: [Bool])>
        init(_ lines: [String]) { state = Locked((lines, [], [])) }
        var shown: [String] { state.withLock { $0.shown } }
        var hidden: [Bool] { state.withLock { $0.hidden } }

        func interface(usesColor: Bool = false) -> TerminalInterface {
            TerminalInterface(
                read: { hidden in
                    self.state.withLock { state in
                        state.hidden.append(hidden)
                        return state.lines.isEmpty ? nil : state.lines.removeFirst()
                    }
                }, write: { line in self.state.withLock { $0.shown.append(line) } }, usesColor: usesColor)
        }
    }

    @Test func `a whole first launch and a forgotten PIN read like a conversation`() async throws {
        let house = try await Gatehouse()
        let typed = Typed(["1", "12", "12", "2580", "2590", "2580", "2580", "1111", "?"])
        let protection = try await house.enrolled { $0.interface = typed.interface() }
        #expect(await protection.launch(house.account).isOpen)
        #expect(
            typed.shown == [
                "── your organisation's protection ──",
                "Your organisation protects its data in this app.",
                "• Its rules hold for the work account worker-a@contoso.example alone. "
                    + "It can remove this account's data from the app; your own data is not touched.",
                "1 go on, 2 cancel:",
                "New PIN of worker-a@contoso.example, at least 4 digits:", "The same again:",
                "It needs at least 4 characters.",
                "New PIN of worker-a@contoso.example, at least 4 digits:", "The same again:",
                "The two PINs do not match.",
                "New PIN of worker-a@contoso.example, at least 4 digits:", "The same again:", "──",
            ])
        #expect(typed.hidden == [false, true, true, true, true, true, true], "a PIN is not shown")

        await protection.suspend()
        house.clock.advance(.seconds(3600))
        let outcome = await protection.resume(house.account)
        #expect(outcome.result == .blocked)
        #expect(
            typed.shown.suffix(9) == [
                "── your organisation's protection ──",
                "PIN of worker-a@contoso.example (? when forgotten, an empty line to cancel):",
                "Wrong PIN; 4 tries left.",
                "PIN of worker-a@contoso.example (? when forgotten, an empty line to cancel):",
                "A forgotten PIN is replaced after a sign-in. Sign in as worker-a@contoso.example.",
                "Your organisation's data stays closed.",
                "• A forgotten PIN is replaced after a sign-in. This program has no way to sign in. Go online and sign in.",
                "1 try again, 2 cancel:", "──",
            ])
    }

    @Test func `a command that is typed where the PIN is asked for is no guess`() async throws {
        let house = try await Gatehouse()
        let typed = Typed(["note milk", "quit", "2580"])
        _ = try await house.opened()
        house.clock.advance(.seconds(3600))
        let restarted = try await house.start { $0.interface = typed.interface() }
        #expect(await restarted.launch(house.account).steps == [LaunchStep(.pin, .done)])
        #expect(typed.shown.filter { $0 == "The PIN has digits only; that was not tried." }.count == 2)
    }

    @Test func `diagnostics read like an answer to why, and tell no name`() async throws {
        let device = try Device(time: TestTime())
        let protection = try await device.enrolled()
        #expect(!device.mayPrint(protection))
        let typed = Typed([])
        typed.interface().show(protection.diagnostics.report())
        let shown = typed.shown
        #expect(shown.first == "── diagnostics ──" && shown.last == "──")
        #expect(shown.contains("Account oid-a: enrolled, rules: policy from the service"))
        #expect(shown.contains("  version v1, sequence 1, from T_1 1"))
        let denial = try #require(shown.firstIndex { $0.hasSuffix("print for oid-a: block") })
        #expect(shown[denial + 1].hasSuffix(", printBlocked, policy T_1 1)"))
        #expect(!shown.contains { $0.contains("worker-a") })
        try await protection.wipe(device.account.id)
        typed.interface().show(protection.diagnostics.report())
        #expect(typed.shown.contains("Nothing was denied."))
    }

    @Test func `the end of the input turns away from every question`() async throws {
        let house = try await Gatehouse()
        let typed = Typed(["1"])
        let protection = try await house.enrolled { $0.interface = typed.interface() }
        #expect(await protection.launch(house.account).result == .cancelled)
    }

    @Test func `what a terminal cannot show of a theme is refused, one message each`() async throws {
        var theme = ProtectionTheme()
        theme.splashIcon = "logo.png"
        theme.background = ProtectionTheme.Color("#FFFFFF")
        theme.accent = ProtectionTheme.Color("1A2B3C")
        let plain = Typed([])
        #expect(
            plain.interface().adopt(theme) == [
                "A terminal cannot show a splash picture.", "A terminal cannot show a background colour.",
                "A terminal cannot show an accent colour without colours.",
            ])
        let colourful = Typed([])
        let interface = colourful.interface(usesColor: true)
        #expect(interface.adopt(theme).count == 2)
        interface.handBack(for: nil)
        #expect(colourful.shown == ["\u{1B}[38;2;26;43;60m──\u{1B}[0m"])
    }

    @Test func `a name does nothing to the terminal but be read, with colours and without`() {
        let hostile = AccountID("ada@x\u{1B}]0;x\u{7}\u{9B}2J\u{202E}\nroot>")
        let shown = #"ada@x\u{1B}]0;x\u{7}\u{9B}2J\u{202E}\u{A}root>"#
        let plain = Typed([])
        plain.interface().takeOver(for: hostile, on: .launch)
        #expect(plain.shown == ["── \(shown): your organisation's protection ──"])
        var theme = ProtectionTheme()
        theme.accent = ProtectionTheme.Color("1A2B3C")
        let colourful = Typed([])
        let interface = colourful.interface(usesColor: true)
        _ = interface.adopt(theme)
        interface.takeOver(for: hostile, on: .launch)
        #expect(
            colourful.shown == ["\u{1B}[38;2;26;43;60m── \(shown): your organisation's protection ──\u{1B}[0m"])
    }

    @Test func `a countdown is shown in units that people use`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        house.clock.advance(.seconds(86_400 - 90))
        let typed = Typed([])
        typed.interface().show(try #require(await protection.gate.offlineCountdown(of: house.account)))
        #expect(
            typed.shown == [
                "Without contact to the organisation this account's data closes in 90 seconds and is removed in 90 days."
            ])
    }

    @Test func `a PIN never appears in a description`() {
        #expect("\(PINAnswer.entered("2580"))" == "entered(redacted)")
        #expect("\(NewPINAnswer.chosen("2580"))" == "chosen(redacted)")
        var dumped = ""
        dump(PINAnswer.entered("2580"), to: &dumped)
        dump(NewPINAnswer.chosen("2580"), to: &dumped)
        #expect(!dumped.contains("2580"))
    }

    @Test func `a denial is shown with its reasons, for sharing and for printing`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened(["printBlocked": .bool(true)])
        do throws(ProtectionError) {
            _ = try protection.permit(for: Question(.print, owner: .managed(house.account)))
            Issue.record("printing is blocked")
        } catch {
            await protection.outlets.showPrintingBlocked(error, of: house.account)
            await protection.outlets.showSharingBlocked(error, of: house.account)
        }
        let printing = try #require(await house.person.shown(.printingBlocked).first)
        #expect(printing.causes.map(\.rule) == ["output.print"])
        #expect(await house.person.shown(.sharingBlocked).count == 1)
    }

    @Test func `a connection that is not trusted is told with its host and number`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        #expect(protection.rules.isManagementEnabled)
        await protection.outlets.showConnectionBlocked(to: "mail.example", because: .matchNotFound, of: house.account)
        let notice = try #require(await house.person.shown(.connectionBlocked).first)
        #expect(notice.causes.first?.message.contains("mail.example") == true)
        #expect(notice.causes.first?.message.contains("107") == true)
    }
}
