import Cordon
import CordonIdentity
import CordonPolicy
import Foundation
import Testing

/// Rows SDK-ID-30…35 and SDK-ID-48…49: Cordon asks, the app answers in time or has said no.
@Suite struct IdentityRequestTests {
    private let window = WindowID(UUID().uuidString)

    private func protection(
        _ device: Device, _ app: SwitchingApp?, gate: SwitchGateAnswer = .passed,
        exit: @escaping @Sendable (String) async -> Void = { _ in }
    ) async throws -> AppProtection {
        try await device.publish([:])
        let protection = try await device.start { configuration in
            configuration.identityDelegate = app
            configuration.identityAnswerLimit = SwitchingApp.limit
            if let app { configuration.clock = app.clock }
            configuration.identityExit = exit
            configuration.switchGate = { _, _ in gate }
        }
        await protection.enroll(device.account)
        return protection
    }

    @Test(arguments: [SwitchingApp.Manner.yes, .later])
    func `after the app's yes the window shows the account, without the app saying so`(_ manner: SwitchingApp.Manner)
        async throws
    {
        let (device, app) = (try Device(), SwitchingApp(manner))
        let protection = try await protection(device, app)
        let outcome = await protection.windows.requireIdentity(.managed("oid-a"), in: window, because: .openURL)
        #expect(outcome.isSwitched)
        #expect(app.requests == [IdentityRequest(identity: .managed("oid-a"), window: window, reason: .openURL)])
        #expect(IdentityContext.windowIdentity(of: window) == .managed("oid-a"))
        // What the window shows already is not asked for.
        _ = await protection.windows.requireIdentity(.managed("oid-a"), in: window, because: .documentImport)
        #expect(app.requests.count == 1)
    }

    @Test(arguments: [SwitchingApp.Manner.no, .never, .twice, .throwing])
    func `an app that refuses, is silent, changes its mind or fails has said no`(_ manner: SwitchingApp.Manner)
        async throws
    {
        let (device, app) = (try Device(), SwitchingApp(manner))
        let protection = try await protection(device, app)
        let outcome = await protection.windows.requireIdentity(.managed("oid-a"), in: window, because: .documentImport)
        #expect(outcome.result == .failed)
        #expect(IdentityContext.windowIdentities(of: window) == nil)
        // An answer after the end changes nothing.
        app.answers.first?.succeed()
        #expect(IdentityContext.windowIdentities(of: window) == nil)
    }

    @Test func `without a handler to ask the answer is no`() async throws {
        let device = try Device()
        let protection = try await protection(device, nil)
        #expect(await protection.windows.requireIdentity(.personal, in: window, because: .openURL).result == .failed)
        #expect(await !protection.windows.offerAccount(device.account))
    }

    @Test func `the app is not asked when the gate stays closed`() async throws {
        let (device, app) = (try Device(), SwitchingApp(.yes))
        let protection = try await protection(device, app, gate: .cancelled)
        let outcome = await protection.windows.requireIdentity(.managed("oid-a"), in: window, because: .openURL)
        #expect(outcome.result == .cancelled)
        #expect(app.requests.isEmpty)
    }

    @Test func `an app that does not say how to add an account has not added it`() async throws {
        let (device, app) = (try Device(), SwitchingApp(.yes))
        let protection = try await protection(device, app)
        #expect(await !protection.windows.offerAccount(device.account))
    }

    @Test func `an app that is asked to switch for what it opens knows who sent that`() async throws {
        let (device, app) = (try Device(), SwitchingApp(.yes))
        let protection = try await protection(device, app)
        for sender in ["oid-b", nil] as [AccountID?] {
            _ = await IdentityContext.with(sender: sender) {
                await protection.windows.requireIdentity(.managed("oid-a"), in: window, because: .openURL)
            }
            _ = await protection.windows.switchIdentity(to: .personal, in: window)
        }
        #expect(app.senders == ["oid-b", nil])
    }
}
