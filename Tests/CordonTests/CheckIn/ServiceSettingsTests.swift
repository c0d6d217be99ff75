import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Testing

@testable import Cordon

/// SRV-CI-016, SRV-CI-066, SRV-CI-067, SRV-CI-084, SDK-CO-12: what the service asks of every app is done, within bounds.
@Suite(.timeLimit(.minutes(10))) struct ServiceSettingsTests {
    private let time = TestTime()

    private func enrolled(_ settings: ServiceSettings) async throws -> (Device, AppProtection) {
        let device = try Device(time: time)
        await device.service.set { $0.change = { $0.service = settings } }
        return (device, try await device.enrolled())
    }

    @Test func `an app that starts waits until a check-in is due, where the service wants it so`() async throws {
        let (device, _) = try await enrolled(ServiceSettings(checkInOnLaunch: false))
        time.advance(by: 20 * 60)
        let restarted = try await device.start()
        await restarted.performDueWork()
        #expect(await device.service.checkIns.isEmpty)
        time.advance(by: 11 * 60)
        await restarted.performDueWork()
        #expect(await device.service.checkIns.count == 1)
    }

    @Test(arguments: [
        ([10, 20], [10, 20, 20, 20]), ([0, -5, 1_000_000], [1, 1, 28_800, 28_800]), ([], [60, 120, 300, 900]),
    ])
    func `failed check-ins come back after the pauses that the service asks for`(
        asked: [Int], pauses: [TimeInterval]
    ) async throws {
        let (device, protection) = try await enrolled(ServiceSettings(backOffSeconds: asked))
        await device.service.set { $0.isUnreachable = true }
        time.advance(by: 1800)
        var found: [TimeInterval] = []
        for _ in pauses {
            await protection.performDueWork()
            // Other work may be due before that.
            let next = try #require(protection.context.accounts[device.account.id]?.nextCheckIn)
            found.append(next.timeIntervalSince(time.now))
            time.set(next)
        }
        #expect(found == pauses)
    }

    @Test(arguments: [("0.2", false), ("0.1", true), ("0.1.0", true), ("0.0.9", true), ("newest", false)])
    func `an app whose Cordon is too old stays closed, and is told to be updated`(
        least: String, passes: Bool
    ) async throws {
        let (device, protection) = try await enrolled(ServiceSettings(minimumSDKVersion: least))
        let events = EventCatch(protection)
        #expect(await protection.checkIn(device.account.id) == .newPolicies)
        let report = await events.first { if case .status = $0 { true } else { false } }
        guard case .status(let status)? = report else { return #expect(Bool(false), "no status came") }
        #expect(status.nextStep == (passes ? .nothing : .updateApp))
        #expect((status.detail?.contains(least) ?? false) != passes)
        let outcome = await protection.launch(device.account.id)
        let reason = outcome.reasons.first { $0.rule == "launch.sdk-version" }
        #expect((reason == nil) == passes)
        if !passes { #expect(outcome.result == .blocked && reason?.remedy == NextStep.updateApp.advice) }
    }

    @Test func `a key set that is too old vouches for nothing new until a fresh one is there`() async throws {
        let (device, protection) = try await enrolled(ServiceSettings(keySetMaxAgeSeconds: 600))
        func keySets() async -> Int { await device.service.asked.count { $0 == "GET /mam/v1/keys" } }
        let before = await keySets()
        time.advance(by: 599)
        #expect(await protection.checkIn(device.account.id) == .newPolicies)
        #expect(await keySets() == before, "a young one is not asked for again")

        time.advance(by: 2)
        await device.service.set { $0.withholdsKeys = true }
        try await device.publish(["printBlocked": .bool(false)])
        #expect(await protection.checkIn(device.account.id) == .parsingFailure)
        #expect(!device.mayPrint(protection), "the old rules stay")

        await device.service.set { $0.withholdsKeys = false }
        #expect(await protection.checkIn(device.account.id) == .newPolicies)
        #expect(device.mayPrint(protection))
        let after = await keySets()
        #expect(await protection.checkIn(device.account.id) == .newPolicies)
        #expect(await keySets() == after)
        let refusals = try #require(await device.service.checkIns.last { $0.refusedEnvelopes != nil }?.refusedEnvelopes)
        #expect(refusals.map(\.code) == ["expired"])
    }

    @Test func `rules from the service came by app management, and none came by nothing`() async throws {
        let (device, protection) = try await enrolled(.usual)
        #expect(protection.rules.policyChannel(of: device.account.id) == .appManagement)
        #expect(protection.rules.policyChannel(of: "oid-b") == nil)
        #expect(PolicyChannel.allCases.map(\.rawValue) == [0, 1, 2])
    }

    @Test func `an organisation that wants required telemetry gets no optional events`() async throws {
        let device = try Device(time: time)
        await device.service.set { $0.change = { $0.service = ServiceSettings(telemetry: .required) } }
        let protection = try await device.enrolled()
        await protection.performDueWork()
        #expect(protection.telemetry.isEnabled)
        #expect(!protection.context.telemetry.takesOptionalEvents)
    }
}
