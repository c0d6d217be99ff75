public import CordonIdentity
public import CordonProtocol
internal import CordonService
public import CordonSignIn
public import Foundation
internal import HTTPTypes

/// An app on a device, as the service sees one: a key of its own, a proof with every request, and every check of an
/// envelope that the real one makes. For tests, demonstrations and load.
///
/// It enrols, checks in, carries wipes out in name only and signs their receipts; it keeps no data. One call at a time.
public actor SimulatedDevice {
    /// Who signs in on it.
    public let account: ManagedAccount
    /// The app.
    public let application: ApplicationFacts
    /// The device.
    public let device: DeviceDescription
    /// The registration's id, empty before ``register()``.
    public private(set) var registrationID = ""
    /// The envelope in force, verified, nil before the first.
    public private(set) var envelope: PolicyEnvelope?

    private let base: URL
    private let pin: String
    private let transport: any HTTPTransport
    private let token: @Sendable (JSONWebKey) async throws -> String
    private let key = SoftwareSigningKey()
    private let now: @Sendable () -> Date
    private let isTokenBound: Bool
    private var current: (sequence: Int64, digest: String)?
    private var nonce: String?
    private var exchanges = 0

    /// Makes a device that is not enrolled.
    ///
    /// - Parameters:
    ///   - service: The service's address.
    ///   - pin: The thumbprint of the service's root key.
    ///   - isTokenBound: Whether tokens are bound to the key; false for a provider that binds none
    ///     (``ServiceDiscovery/Proof/registration``).
    ///   - token: Gives a check-in token that is bound to the key.
    public init(
        service: URL, pin: String, account: ManagedAccount, bundleID: String, tag: String,
        transport: any HTTPTransport, now: @escaping @Sendable () -> Date = { Date() }, isTokenBound: Bool = true,
        token: @escaping @Sendable (JSONWebKey) async throws -> String
    ) {
        self.base = service
        self.pin = pin
        self.account = account
        self.application = ApplicationFacts(bundleID: bundleID, version: "1.0", sdkVersion: "1.0")
        self.device = DeviceDescription(tag: tag, osVersion: "18.2", model: "Simulated")
        self.transport = transport
        self.now = now
        self.isTokenBound = isTokenBound
        self.token = token
    }

    /// Enrols and puts the first envelope in force.
    ///
    /// - Throws: ``ServiceError`` with the service's refusal, ``TransportError`` without an answer, ``ProtocolError`` when the envelope is not acceptable.
    @discardableResult
    public func register() async throws -> EnrollmentStatus {
        let request = RegistrationRequest(
            application: application, device: device, source: .loginAndEnroll, nonce: nextNonce())
        let result = try MessageCoding.decode(
            RegistrationResult.self, from: try await send("POST", "mam/v1/registrations", request))
        registrationID = result.registrationID
        current = nil
        try await accept(result.envelope, nonce: request.nonce)
        return result.statusCode
    }

    /// Checks in and puts a new envelope in force, if there is one.
    ///
    /// - Throws: ``ServiceError`` with the service's refusal, ``TransportError`` without an answer, ``ProtocolError`` when the envelope is not acceptable.
    @discardableResult
    public func checkIn(health: [CheckInRequest.DeviceHealth] = []) async throws -> CheckInResponse {
        let request = CheckInRequest(
            appliedSequence: current?.sequence ?? 0, appliedVersion: envelope?.version, appliedDigest: current?.digest,
            application: application, device: device, health: health, clientTime: now(), nonce: nextNonce())
        let bytes = try await send("POST", "mam/v1/registrations/\(registrationID)/checkins", request)
        let response = try MessageCoding.decode(CheckInResponse.self, from: bytes)
        if let text = response.envelope {
            try await accept(text, nonce: request.nonce, contact: response.contact)
        }
        return response
    }

    /// Reports every wipe of the envelope in force as begun and done, with a signed receipt.
    ///
    /// - Parameter left: What could not be removed, as the receipt says it; where there is something, the wipe has failed.
    /// - Throws: ``ServiceError`` with the service's refusal, ``TransportError`` without an answer.
    public func carryOutWipes(leaving left: [String] = []) async throws {
        for command in envelope?.commands ?? [] where command.kind == .wipe {
            let receipt = WipeReceipt(
                commandID: command.id, tenant: account.tenant, registrationID: registrationID, account: account.id,
                bundleID: application.bundleID, destroyedKeyIDs: [key.publicKey.thumbprint], files: 1, bytes: 1,
                started: now(), finished: now(), failures: left)
            for report in [
                Acknowledgement(commandID: command.id, phase: .started, time: now(), receipt: nil),
                Acknowledgement(
                    commandID: command.id, phase: receipt.succeeded ? .succeeded : .failed, time: now(),
                    receipt: try receipt.signed(by: key)),
            ] {
                _ = try await send("POST", "mam/v1/registrations/\(registrationID)/acknowledgements", report)
            }
        }
    }

    /// Reports every other command of the envelope in force as done: registers again where it says so, else in name only.
    ///
    /// - Throws: ``ServiceError`` with the service's refusal, ``TransportError`` without an answer, ``ProtocolError`` when an envelope is not acceptable.
    public func carryOutCommands() async throws {
        for command in envelope?.commands ?? [] where command.kind != .wipe {
            if command.kind == .reRegister { try await register() }
            let report = Acknowledgement(commandID: command.id, phase: .succeeded, time: now())
            _ = try await send("POST", "mam/v1/registrations/\(registrationID)/acknowledgements", report)
        }
    }

    /// A request for the event stream, with a proof of its own; good for one use.
    public func eventStreamRequest() async throws -> (path: String, fields: [(name: String, value: String)]) {
        let path = "mam/v1/registrations/\(registrationID)/events"
        return ("/" + path, try await fields("GET", path, Data()))
    }

    private func send(_ method: String, _ path: String, _ message: some Encodable) async throws -> Data {
        let body = try MessageCoding.encode(message)
        for _ in 0..<2 {
            var request = HTTPRequest(
                method: HTTPRequest.Method(rawValue: method) ?? .post, url: base.appending(path: path))
            for (name, value) in try await fields(method, path, body) {
                if let name = HTTPField.Name(name) { request.headerFields[name] = value }
            }
            request.headerFields[.contentType] = "application/json"
            let answer = try await transport.send(request, body: body, limit: 4 << 20, timeout: .seconds(60))
            let fresh = HTTPField.Name("DPoP-Nonce").flatMap { answer.head.headerFields[$0] }
            let wasMissing = nonce == nil
            nonce = fresh ?? nonce
            let status = answer.head.status
            if status.kind == .successful || status.code == 423 { return answer.body }
            let problem = try? MessageCoding.decode(ProblemDetails.self, from: answer.body)
            if status == .unauthorized, wasMissing || problem?.type.hasSuffix("proof-nonce") == true { continue }
            let reason = "the service answered \(status.code): \(problem?.detail ?? problem?.title ?? "")"
            throw problem?.code.map { ServiceError.enrollment($0, reason) } ?? ServiceError(.invalid, reason)
        }
        throw ServiceError(.wrongKey, "the service accepts no proof")
    }

    private func fields(
        _ method: String, _ path: String, _ body: Data
    ) async throws -> [(name: String, value: String)] {
        let token = try await token(key.publicKey)
        let proof = try DPoPProof.make(
            method: method, url: base.appending(path: path), accessToken: token, nonce: nonce, body: body,
            issued: now(), signer: key)
        return [("Authorization", (isTokenBound ? "DPoP " : "Bearer ") + token), ("DPoP", proof)]
    }

    private func accept(_ text: String, nonce: String, contact: String? = nil) async throws {
        let request = HTTPRequest(method: .get, url: base.appending(path: "mam/v1/keys"))
        let answer = try await transport.send(request, body: nil, limit: 1 << 20, timeout: .seconds(60))
        let keys = try MessageCoding.decode(SignedKeySet.self, from: answer.body).verified(pin: pin, at: now())
        let signed = SignedEnvelope(text)
        let receiver = SignedEnvelope.Receiver(
            tenant: account.tenant, registrationID: registrationID, account: account.id,
            bundleID: application.bundleID)
        let accepted = try signed.accepted(by: keys, for: receiver, after: current, nonce: nonce, at: now())
        if accepted.hasContact == true {
            let proof = try ContactProof(verifying: contact ?? "", by: keys, forRegistration: registrationID)
            guard proof.envelopeDigest == signed.digest else {
                throw ProtocolError(.replayed, "the service's word is about another envelope")
            }
        }
        envelope = accepted
        current = (accepted.sequence, signed.digest)
    }

    private func nextNonce() -> String {
        exchanges += 1
        return "nonce-\(exchanges)"
    }
}
