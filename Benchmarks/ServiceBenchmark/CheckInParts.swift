import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonServiceHTTP
import CordonServiceSQLite
import Foundation
import Logging

/// Where the time of an unchanged check-in goes: each part alone, in processor time of this process.
enum CheckInParts {
    private static let count = 2_000

    static func measure(in folder: URL) async throws {
        let account = ServiceProcess.person(0)
        let key = SoftwareSigningKey()
        let service = try await service(in: folder, with: account, key: key)
        let caller = DeviceCaller(account: account, key: key.publicKey)
        func request(_ envelope: Registration.IssuedEnvelope?) -> CheckInRequest {
            CheckInRequest(
                appliedSequence: envelope?.sequence ?? 0, appliedVersion: envelope?.version,
                appliedDigest: envelope?.digest, application: GrowthStore.application, device: GrowthStore.device(0),
                health: [], clientTime: Date(), nonce: UUID().uuidString)
        }
        _ = try await service.devices.checkIn(request(nil), registration: "r", by: caller)
        let owner = Administrator(tenant: ServiceProcess.tenant, id: "owner", name: "Owner", roles: [.owner])
        let envelope = try await service.administration.registration("r", as: owner).lastEnvelope
        let unchanged = request(envelope)
        let response = try await service.devices.checkIn(unchanged, registration: "r", by: caller).response
        guard response.unchanged else { throw GrowthFailure(reason: "the check-in was not unchanged") }

        print("\nprocessor time of each part of an unchanged check-in\n")
        let signed = Data("signed".utf8)
        let signature = try key.signature(for: signed)
        try say("a bare signature check (ES256)") {
            guard key.publicKey.isValidSignature(signature, for: signed) else { throw GrowthFailure(reason: "bad") }
        }
        try say("a bare signature made (ES256)") { _ = try key.signature(for: signed) }
        let issuer = Issuer(key: SoftwareSigningKey())
        let token = try issuer.checkInToken(account, boundTo: key.publicKey)
        let verifier = AccessTokenVerifier(
            rules: TokenRules(
                issuers: [.init(issuer: Issuer.name, tenant: ServiceProcess.tenant)],
                checkInAudience: ServiceServerConfiguration.usualCheckInAudience,
                administrationAudiences: [ServiceServerConfiguration.usualAdministrationAudience]), documents: issuer)
        try await say("the access token, remembered") { _ = try await verifier.verify(token, for: .checkIn) }
        guard let url = URL(string: "https://127.0.0.1:8443/mam/v1/registrations/r/checkins") else { return }
        let proof = try DPoPProof.make(
            method: "POST", url: url, accessToken: token, nonce: "n", issued: Date(), signer: key)
        try say("the proof of possession, with its signature check") {
            _ = try DPoPProof(verifying: proof, method: "POST", url: url, accessToken: token, now: Date())
        }
        let body = try MessageCoding.encode(unchanged)
        try say("the body read") {
            guard CheckInRequest(usual: try JSONValue(parsing: body)) != nil else {
                throw GrowthFailure(reason: "the body is not read as the usual one")
            }
        }
        try await say("the service: reads, comparison, signed contact") {
            _ = try await service.devices.checkIn(unchanged, registration: "r", by: caller)
        }
        try say("the answer written") { _ = response.bytes }
    }

    private static func service(
        in folder: URL, with account: ManagedAccount, key: SoftwareSigningKey
    ) async throws -> ManagementService {
        let storage = try SQLiteStorage(file: folder.appending(path: "parts.sqlite"))
        let service = ManagementService(
            storage: storage, keyStore: try FileServiceKeyStore(folder: folder.appending(path: "parts-keys")),
            configuration: ServiceConfiguration(), logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        try await service.open(ServiceProcess.tenant)
        try await ServiceProcess.fill(service)
        try await storage.write(ServiceProcess.tenant) { transaction in
            try transaction.save(
                Registration(
                    id: "r", account: account, key: key.publicKey, source: .loginAndEnroll, created: Date(),
                    application: GrowthStore.application, device: GrowthStore.device(0)))
        }
        return service
    }

    private static func say(_ name: String, _ work: () throws -> Void) throws {
        try work()
        say(name, try Meter.seconds { for _ in 0..<count { try work() } })
    }

    private static func say(_ name: String, _ work: () async throws -> Void) async throws {
        try await work()
        say(name, try await Meter.seconds { for _ in 0..<count { try await work() } })
    }

    private static func say(_ name: String, _ seconds: Double) {
        print(
            name.padding(toLength: 56, withPad: " ", startingAt: 0)
                + String(format: "%8.1f µs", seconds / Double(count) * 1e6))
        fflush(nil)
    }
}
