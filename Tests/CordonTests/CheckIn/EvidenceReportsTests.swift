import CordonBase
import CordonIdentity
import CordonProtocol
import Foundation
import Testing

@testable import Cordon

/// SRV-CI-082: an app shows the service that it is itself, and nothing waits for it.
@Suite(.timeLimit(.minutes(10))) struct EvidenceReportsTests {
    private let time = TestTime()

    private func enrolled(_ platform: Platform, asking: Bool = true) async throws -> (Device, AppProtection) {
        let device = try Device(time: time)
        await device.service.set { $0.asksForEvidence = asking }
        _ = try await device.enrolled()
        return (device, try await device.start { $0.evidence = platform })
    }

    private func kinds(_ device: Device) async -> [String] {
        await device.service.evidence.map { $0.attestation != nil ? "attestation" : "assertion" }
    }

    @Test func `an app attests a key once, and signs with it as often as the service asks (SRV-CI-082)`() async throws {
        let (device, protection) = try await enrolled(Platform())
        await protection.performDueWork()
        await protection.performDueWork()
        #expect(await kinds(device) == ["attestation"])
        time.advance(by: 86_401)
        let restarted = try await device.start { $0.evidence = Platform(made: 1) }
        await restarted.performDueWork()
        #expect(await kinds(device) == ["attestation", "assertion"])
        #expect(await Set(device.service.evidence.map(\.keyID)).count == 1)
    }

    @Test func `a key that the service or the platform knows no more is made anew (SRV-CI-082)`() async throws {
        let platform = Platform()
        let (device, protection) = try await enrolled(platform)
        await protection.performDueWork()
        await device.service.forgetEvidenceKeys()
        time.advance(by: 86_401)
        await protection.performDueWork()
        #expect(await kinds(device) == ["attestation", "assertion", "attestation"])
        platform.loseKeys()
        time.advance(by: 86_401)
        await protection.performDueWork()
        #expect(await kinds(device).suffix(1) == ["attestation"])
        #expect(await Set(device.service.evidence.map(\.keyID)).count == 3)
    }

    @Test func `a service of the version before is asked once a day, and no key is made for it (SRV-CI-082)`()
        async throws
    {
        let platform = Platform()
        let (device, protection) = try await enrolled(platform, asking: false)
        func asked() async -> Int { await device.service.asked.count { $0.hasSuffix("/evidence") } }
        await protection.performDueWork()
        await protection.performDueWork()
        #expect(await asked() == 1)
        time.advance(by: 86_401)
        await protection.performDueWork()
        #expect(await asked() == 2 && platform.made == 0)
    }

    @Test func `apps that began at one moment do not show evidence at one moment the next day (SRV-CI-082)`()
        async throws
    {
        let device = try Device(time: time)
        await device.service.set { $0.asksForEvidence = true }
        _ = try await device.enrolled()
        let protection = try await device.start {
            $0.evidence = Platform()
            $0.jitter = { 1 }
        }
        await protection.performDueWork()
        time.advance(by: 86_401)
        await protection.performDueWork()
        #expect(await kinds(device).count == 1)
        time.advance(by: 8640)
        await protection.performDueWork()
        #expect(await kinds(device).count == 2)
    }

    @Test(arguments: [Platform.Fault.unsupported, .failing, .oddName])
    func `a platform that gives no evidence keeps nothing from the app (SRV-CI-082)`(fault: Platform.Fault) async throws
    {
        let (device, protection) = try await enrolled(Platform(fault))
        await protection.performDueWork()
        #expect(await kinds(device) == [])
        #expect(await protection.checkIn(device.account.id) == .newPolicies)
    }

    @Test func `evidence that is refused is shown again an hour later, and the rules stay in force (SRV-CI-082)`()
        async throws
    {
        let (device, protection) = try await enrolled(Platform())
        await device.service.set {
            $0.evidenceProblem = ProblemDetails(type: "urn:cordon:problem:evidence", title: "no", status: 403)
        }
        await device.service.set { $0.interval = 8 * 3600 }
        await protection.checkIn(device.account.id)
        await protection.performDueWork()
        #expect(await protection.performDueWork() == time.now + 3600)
        #expect(await kinds(device).count == 1)
        #expect(!device.mayPrint(protection) && protection.enrolledAccounts.map(\.id) == [device.account.id])
        await device.service.set { $0.evidenceProblem = nil }
        time.advance(by: 3601)
        await protection.performDueWork()
        #expect(await kinds(device).count > 1)
    }
}

/// A platform that signs by putting a key's name before what it is given.
final class Platform: AppEvidenceSource {
    enum Fault: Sendable { case unsupported, failing, oddName }
    private struct Failure: Error {}

    private let fault: Fault?
    private let keys: Locked<(made: Int, known: Set<String>)>

    init(_ fault: Fault? = nil, made: Int = 0) {
        self.fault = fault
        keys = Locked((made, Set((0..<made).map { Self.name($0) })))
    }

    var made: Int { keys.withLock { $0.made } }
    var isSupported: Bool { fault != .unsupported }

    func loseKeys() { keys.withLock { $0.known = [] } }

    func attest(_ challenge: Data) async throws -> (key: String, attestation: Data) {
        if fault == .failing { throw Failure() }
        let name = keys.withLock { keys in
            let name = Self.name(keys.made)
            keys.made += 1
            keys.known.insert(name)
            return name
        }
        return (fault == .oddName ? "key" : name, Data(name.utf8) + challenge)
    }

    func assertion(of request: Data, by key: String) async throws -> Data {
        guard keys.withLock({ $0.known.contains(key) }) else { throw Failure() }
        return Data(key.utf8) + request
    }

    private static func name(_ number: Int) -> String {
        Data(repeating: UInt8(truncatingIfNeeded: number), count: 32).base64EncodedString()
    }
}
