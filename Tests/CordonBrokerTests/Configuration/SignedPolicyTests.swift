import CordonIdentity
import CordonProtocol
import CordonSignIn
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// A shared device's rules in a signed file: who may sign, for whom, and never an older one again (SI-199).
@Suite struct SignedPolicyTests {
    private let key = SoftwareSigningKey()
    private static let rules =
        #"{"issuer": "https://id.contoso.example", "sharedDeviceMode": true, "maxIdleSeconds": 900}"#

    private func policy(_ version: Int, device: String? = nil, tenant: String = "contoso") throws -> SignedDevicePolicy
    {
        try SignedDevicePolicy(
            version: version, tenant: TenantID(tenant), device: device, configuration: Data(Self.rules.utf8))
    }

    private func read(_ text: String, trusting trusted: Set<String>? = nil) throws -> SignedDevicePolicy {
        try SignedDevicePolicy(
            verifying: Data(text.utf8), trusting: trusted ?? [key.publicKey.thumbprint], place: "device.policy")
    }

    private let refused = ProgramError(.configurationInvalid, reason: "", place: "", hint: "")

    @Test func `a signed policy gives the whole configuration`() throws {
        let signed = try policy(3, device: "d").signed(by: key)
        let read = try read(signed + "\n")
        #expect(read.version == 3 && read.tenant.rawValue == "contoso" && read.device == "d")
        let configuration = try BrokerConfiguration(policy: read, place: "device.policy")
        #expect(configuration.profileSaysShared && configuration.managedConfigurationSaysShared)
        #expect(configuration.maximumIdle == .seconds(900))
        #expect(configuration.policy?.version == 3)
    }

    @Test func `a policy that is unsigned, changed, or signed by another key is refused`() throws {
        let signed = try policy(1).signed(by: key)
        #expect(throws: refused) { try read(Self.rules) }
        #expect(throws: refused) { try read("") }
        #expect(throws: refused) { try read(signed, trusting: []) }
        #expect(throws: refused) { try read(signed, trusting: [SoftwareSigningKey().publicKey.thumbprint]) }
        let parts = signed.split(separator: ".").map(String.init)
        let other = try policy(9).signed(by: key).split(separator: ".").map(String.init)
        #expect(throws: refused) { try read([parts[0], other[1], parts[2]].joined(separator: ".")) }
        #expect(throws: refused) { try read([parts[0], parts[1], ""].joined(separator: ".")) }
        // What the same key signed as something else is no policy.
        let statement = DeviceSessionStatement(deviceID: "d", session: 1, account: nil, since: 0)
        #expect(throws: refused) { try read(try statement.signed(by: key)) }
    }

    @Test(arguments: [#"{"issuer": "https://x", "surprise": 1}"#, "[]", ""])
    func `a policy that no broker would run by is not signed`(rules: String) {
        #expect(throws: refused) {
            try SignedDevicePolicy(version: 1, tenant: TenantID("contoso"), configuration: Data(rules.utf8))
        }
    }

    /// A stand whose broker is run by a policy of this version.
    private func stand(_ version: Int?, device: String? = nil, tenant: String = "contoso") throws -> BrokerStand {
        try BrokerStand {
            $0.policy = version.map { .init(version: $0, tenant: TenantID(tenant), device: device) }
        }
    }

    private func start(_ stand: BrokerStand, in folder: URL) async throws -> Broker {
        try await stand.broker(folder: folder)
    }

    @Test func `an older policy, one of another device, and none at all are refused once there was a newer one`()
        async throws
    {
        let first = try stand(4)
        let broker = try await first.joinedBroker()
        let id = try #require(await broker.state.registration?.facts.deviceID)
        _ = try await start(stand(4, device: id), in: first.folder)
        await #expect(throws: refused) { try await start(stand(3), in: first.folder) }
        await #expect(throws: refused) { try await start(stand(5, device: "another"), in: first.folder) }
        await #expect(throws: refused) { try await start(stand(5, tenant: "fabrikam"), in: first.folder) }
        await #expect(throws: refused) { try await start(stand(nil), in: first.folder) }
        _ = try await start(stand(6), in: first.folder)
        await #expect(throws: refused) { try await start(stand(4), in: first.folder) }
    }

    @Test func `an older policy is refused also after the state was damaged or removed`() async throws {
        let first = try stand(4)
        _ = try await first.joinedBroker()
        let file = first.folder.appending(path: "broker.state")
        try Data("damaged".utf8).write(to: file)
        await #expect(throws: refused) { try await start(stand(3), in: first.folder) }
        await #expect(throws: refused) { try await start(stand(nil), in: first.folder) }
        try FileManager.default.removeItem(at: file)
        await #expect(throws: refused) { try await start(stand(3), in: first.folder) }
        _ = try await start(stand(4), in: first.folder)
    }

    @Test func `a device joins the organisation of its policy only`() async throws {
        let stand = try stand(1, tenant: "fabrikam")
        let broker = try await stand.broker()
        let administrator = try await BrokerApp("x", at: broker, user: 0)
        let refused = await administrator.attended(.deviceJoin, as: .administrator, at: stand.provider)
        #expect(refused.error?.code == "brokerRefused")
        let joined = await administrator.attended(.deviceJoin, as: .stranger, at: stand.provider)
        #expect(joined.device?.registration?.tenant.rawValue == "fabrikam")
    }
}
