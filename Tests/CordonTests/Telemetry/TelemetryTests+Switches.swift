import CordonPolicy
import CordonProtocol
import Foundation
import Testing

@testable import Cordon

extension TelemetryTests {
    @Test(arguments: ["person", "settings", "organisation"])
    func `nothing is told of the time before telemetry was switched, off or on`(by who: String) async throws {
        let (device, protection) = try await worked { $0.sendsOptionalTelemetry = true }
        let account = device.account.id
        func turn(on: Bool) async throws {
            switch who {
            case "person": try await protection.telemetry.setEnabled(on)
            case "settings": try await protection.settings.change { $0.telemetryDisabled = !on }
            default:
                await device.service.set { $0.change = { $0.telemetryDisabled = !on } }
                await protection.checkIn(account)
            }
            #expect(protection.telemetry.isEnabled == on)
        }
        func denials() async throws -> Int { try await events(at: device.service).count { $0.kind == .sdkAction } }
        let batches = await device.service.telemetry.count
        await protection.checkIn(account)
        #expect(!device.mayPrint(protection))
        try await turn(on: false)
        #expect(!device.mayPrint(protection))
        try await turn(on: true)
        await protection.performDueWork()
        #expect(try await denials() == 0)
        // The organisation's word came with a check-in, which is told.
        if who != "organisation" { #expect(await device.service.telemetry.count == batches) }
        #expect(!device.mayPrint(protection))
        await protection.performDueWork()
        #expect(try await denials() == 1)
    }

    @Test(arguments: [false, true])
    func `what waits for a token while telemetry is switched is not sent, and does not wait again`(
        andOnAgain: Bool
    ) async throws {
        let (device, protection) = try await worked()
        let batches = await device.service.telemetry.count
        await protection.checkIn(device.account.id)
        let latch = Latch()
        await device.sessions.set { $0.latch = latch }
        let round = Task { await protection.telemetry.performDueWork(isFirst: false) }
        await latch.waitForArrival()
        try await protection.telemetry.setEnabled(false)
        if andOnAgain {
            try await protection.telemetry.setEnabled(true)
            await device.service.set { $0.telemetryProblem = ProblemDetails(title: "later", status: 503) }
        }
        await latch.open()
        await round.value
        await device.service.set { $0.telemetryProblem = nil }
        try await protection.telemetry.setEnabled(true)
        await protection.telemetry.performDueWork(isFirst: false)
        #expect(await device.service.telemetry.count == batches)
    }

    @Test func `an app's own sender is given nothing more once telemetry was switched off`() async throws {
        let sender = SwitchingSender()
        let (device, protection) = try await worked { $0.telemetryDelegate = sender }
        await protection.checkIn(device.account.id)
        await protection.checkIn(device.account.id)
        await sender.begin(protection.telemetry)
        await protection.telemetry.performDueWork(isFirst: false)
        try await protection.telemetry.setEnabled(true)
        await protection.telemetry.performDueWork(isFirst: false)
        #expect(await sender.count == 1)
    }

    @Test func `an app's own sender hears no name of an account any more that was removed while it was sending`()
        async throws
    {
        let sender = WipingSender()
        let (device, protection) = try await worked { $0.telemetryDelegate = sender }
        await protection.checkIn(device.account.id)
        await protection.checkIn(device.account.id)
        await sender.begin(protection)
        await protection.telemetry.performDueWork(isFirst: false)
        #expect(protection.enrolledAccounts.isEmpty)
        #expect(await sender.named == 1, "the first one, with which the account was removed")
    }

    @Test func `an optional event that waits is not told once an organisation refuses those`() async throws {
        let (device, protection) = try await worked { $0.sendsOptionalTelemetry = true }
        #expect(!device.mayPrint(protection))
        await device.service.set { $0.telemetryProblem = ProblemDetails(title: "later", status: 503) }
        await protection.performDueWork()
        await device.service.set {
            $0.telemetryProblem = nil
            $0.change = { $0.service = ServiceSettings(telemetry: .required) }
        }
        await protection.checkIn(device.account.id)
        await protection.performDueWork()
        let told = try await events(at: device.service)
        #expect(told.contains { $0.kind == .policyApplied } && told.allSatisfy { $0.kind != .sdkAction })
    }
}

/// Switches telemetry off with the first event that it is given.
private actor SwitchingSender: TelemetryDelegate {
    private(set) var count = 0
    private var telemetry: TelemetryReports?

    func begin(_ telemetry: TelemetryReports) { (self.telemetry, count) = (telemetry, 0) }

    func send(_ event: TelemetryEvent) async {
        count += 1
        do { try await telemetry?.setEnabled(false) } catch { Issue.record(error) }
    }
}

/// Removes the account with the first event that names it.
private actor WipingSender: TelemetryDelegate {
    private(set) var named = 0
    private var protection: AppProtection?

    func begin(_ protection: AppProtection) { (self.protection, named) = (protection, 0) }

    func send(_ event: TelemetryEvent) async {
        guard let account = event.account else { return }
        named += 1
        guard let protection, named == 1 else { return }
        do { try await protection.wipe(account) } catch { Issue.record(error) }
    }
}
