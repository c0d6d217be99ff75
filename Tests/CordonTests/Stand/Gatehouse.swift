import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation

@testable import Cordon

/// A device with a clock that a test moves and a person who answers, for everything about the launch gate.
final class Gatehouse: Sendable {
    let device: Device
    let clock = ManualClock()
    let person = ScriptedPerson()
    /// What the app says of its device.
    let facts = Locked(Gatehouse.soundDevice)

    static let soundDevice: DeviceFacts = {
        var facts = DeviceFacts()
        facts.rooted = false
        facts.devicePINSet = true
        return facts
    }()

    /// - Parameters:
    ///   - isLasting: Whether the keys are in the device's folder, for a copy of it that opens elsewhere.
    ///   - inMemory: Whether the folder is in memory where the system has a place for that.
    init(isLasting: Bool = false, inMemory: Bool = false) async throws {
        device = try Device(isLasting: isLasting, inMemory: inMemory)
        let now = clock.clock.now
        await device.service.set { $0.time = now }
        await person.set { $0.notices[.managed] = [.goOn] }
    }

    var account: AccountID { device.account.id }

    /// Starts the app, as after a launch.
    func start(_ change: (inout ProtectionConfiguration) -> Void = { _ in }) async throws -> AppProtection {
        try await device.start { configuration in
            configuration.interface = person
            configuration.clock = clock.clock
            configuration.pinCost = PINCost(logRounds: 1)
            configuration.deviceFacts = { [facts] _ in facts.withLock { $0 } }
            change(&configuration)
        }
    }

    /// Starts the app and enrols the account under rules.
    func enrolled(
        _ rules: [String: JSONValue] = [:], _ change: (inout ProtectionConfiguration) -> Void = { _ in }
    ) async throws -> AppProtection {
        try await device.publish(rules, asksForPIN: true)
        let protection = try await start(change)
        let status = await protection.enroll(device.account)
        guard status == .newPolicies else { throw ProtectionError(.notEnrolled, "status \(status)") }
        return protection
    }

    /// Starts another app of the organisation on the same device, and enrols the account in it.
    func enrolledSecondApp(_ change: (inout ProtectionConfiguration) -> Void) async throws -> AppProtection {
        let folder = device.folder
        let protection = try await start { configuration in
            configuration.dataDirectory = folder.appending(path: "second")
            change(&configuration)
        }
        _ = await protection.enroll(device.account)
        return protection
    }

    /// Starts the app, enrols the account and passes the gate, a PIN being made on the way. Nothing is under way in its folder afterwards.
    func opened(
        _ rules: [String: JSONValue] = [:], _ change: (inout ProtectionConfiguration) -> Void = { _ in }
    ) async throws -> AppProtection {
        let protection = try await enrolled(rules, change)
        let outcome = await protection.launch(account)
        guard outcome.isOpen else { throw ProtectionError(.gateClosed, "\(outcome)") }
        await person.forgetAsked()
        await protection.gate.keys.finishChanges(account)
        return protection
    }

    func goOffline() async { await device.service.set { $0.isUnreachable = true } }
    func goOnline() async { await device.service.set { $0.isUnreachable = false } }

    /// Where the account's PIN is kept.
    var pinFiles: [URL] {
        let folder = device.folder.appending(path: "data/pins")
        return (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    }
}
