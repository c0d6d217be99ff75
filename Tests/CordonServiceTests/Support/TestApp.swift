import CordonIdentity
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation

/// An app on a device that checks what it is told as the real one does.
struct TestApp {
    let test: TestOrganisation
    var account: ManagedAccount
    var key = SoftwareSigningKey()
    var bundleID = TestOrganisation.app
    var tag = "tag-1"
    var model = "iPhone15,2"
    var management: ApplicationFacts.Management?
    var authenticated: Date?
    var registrationID = ""
    var current: (sequence: Int64, digest: String)?
    var envelope: PolicyEnvelope?
    /// What the service has signed of its last answer.
    private(set) var contact: ContactProof?
    /// How many requests it has made, each of which has the next number in its nonce.
    private(set) var nonces = 0

    /// A service whose people have a policy, and an app of Ada's that is registered.
    static func enrolled() async throws -> (TestOrganisation, TestApp) {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        return (test, app)
    }

    init(_ test: TestOrganisation, user: String = "ada", bundleID: String = TestOrganisation.app, tag: String = "tag-1")
    {
        self.test = test
        self.account = ManagedAccount(
            id: AccountID("oid-\(user)"), tenant: TestOrganisation.tenant, userPrincipalName: "\(user)@contoso.example")
        self.bundleID = bundleID
        self.tag = tag
    }

    var caller: DeviceCaller { DeviceCaller(account: account, key: key.publicKey, authenticated: authenticated) }
    var application: ApplicationFacts {
        ApplicationFacts(bundleID: bundleID, version: "3.1", sdkVersion: "1.0", management: management)
    }
    var device: DeviceDescription { DeviceDescription(tag: tag, osVersion: "18.2", model: model) }

    @discardableResult
    mutating func register(
        after former: String? = nil, inPlaceOf replaced: String? = nil
    ) async throws -> RegistrationOutcome {
        let request = RegistrationRequest(
            application: application, device: device, source: .appRegistered, nonce: nextNonce(),
            formerRegistrationID: former, replacedRegistrationID: replaced)
        let outcome = try await test.service.devices.register(request, by: caller)
        registrationID = outcome.result.registrationID
        if outcome.isNew { current = nil }
        try await accept(outcome.result.envelope, nonce: request.nonce)
        return outcome
    }

    @discardableResult
    mutating func checkIn(
        health: [CheckInRequest.DeviceHealth] = [], generation: Int64? = nil, share: RecoveryShare? = nil
    ) async throws -> CheckInOutcome {
        let request = CheckInRequest(
            appliedSequence: current?.sequence ?? 0, appliedVersion: envelope?.version, appliedDigest: current?.digest,
            application: application, device: device, health: health, clientTime: test.clock.now, nonce: nextNonce(),
            stateGeneration: generation, recoveryShareDigest: share?.digest)
        let outcome = try await test.service.devices.checkIn(request, registration: registrationID, by: caller)
        if let text = outcome.response.envelope { try await accept(text, nonce: request.nonce) }
        try await verifyContact(of: outcome.response, to: request)
        return outcome
    }

    func acknowledge(_ phase: Acknowledgement.Phase, _ commandID: String, receipt: String? = nil) async throws {
        try await test.service.devices.acknowledge(
            Acknowledgement(commandID: commandID, phase: phase, time: test.clock.now, receipt: receipt),
            registration: registrationID, by: caller)
    }

    /// Registers, checks in until told to wipe, wipes, and sends the receipt.
    mutating func wipe() async throws {
        try await checkIn()
        guard let command = envelope?.commands.first else { throw MissingCommand() }
        try await acknowledge(.started, command.id)
        try await acknowledge(.succeeded, command.id, receipt: receipt(command.id).signed(by: key))
    }

    struct MissingCommand: Error {}

    func receipt(_ commandID: String, failures: [String] = [], cause: String? = nil) -> WipeReceipt {
        WipeReceipt(
            commandID: commandID, tenant: account.tenant, registrationID: registrationID, account: account.id,
            bundleID: bundleID, destroyedKeyIDs: ["key-1"], files: 3, bytes: 4096, started: test.clock.now,
            finished: test.clock.now, failures: failures, cause: cause)
    }

    /// Every answer says that it is one to this request.
    private mutating func verifyContact(of response: CheckInResponse, to request: CheckInRequest) async throws {
        let proof = try await verified(response.contact)
        guard proof.nonce == request.nonce, proof.clientTime == Int64(request.clientTime.timeIntervalSince1970) else {
            throw ProtocolError(.replayed, "the answer is to another request")
        }
        guard proof.envelopeDigest == current?.digest, response.envelope == nil || envelope?.hasContact == true else {
            throw ProtocolError(.replayed, "word and envelope do not go together")
        }
        contact = proof
    }

    /// What the service has signed of an answer, by a key that its root key vouches for.
    func verified(_ contact: String?) async throws -> ContactProof {
        try ContactProof(verifying: contact ?? "", by: try await keys(), forRegistration: registrationID)
    }

    private func keys() async throws -> JSONWebKeySet {
        let pin = try await test.service.devices.discoveryFacts(of: account.tenant).rootKeyThumbprint
        return try await test.service.devices.keySet(of: account.tenant).verified(pin: pin, at: test.clock.now)
    }

    private mutating func accept(_ text: String, nonce: String) async throws {
        let keys = try await keys()
        let signed = SignedEnvelope(text)
        let receiver = SignedEnvelope.Receiver(
            tenant: account.tenant, registrationID: registrationID, account: account.id, bundleID: bundleID)
        let accepted = try signed.accepted(
            by: keys, for: receiver, after: current, nonce: nonce, at: test.clock.now)
        envelope = accepted
        current = (accepted.sequence, signed.digest)
    }

    private mutating func nextNonce() -> String {
        nonces += 1
        return "nonce-\(nonces)"
    }
}

/// The error of a call, nil when it succeeded.
func failure(_ body: () async throws -> Void) async -> ServiceError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? ServiceError
    }
}
