import CordonBase
import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

/// The route by which an app shows that it is itself (SRV-CI-082).
struct EvidenceRoutes: Sendable {
    /// When evidence is wanted again.
    private static let interval = 86_400
    /// The largest body: an attestation in base64url and the rest.
    private static let largestBody = 2 * AppAttestVerifier.largest

    let gate: CheckInGate
    let devices: DeviceService
    let limits: RequestLimiter
    /// Nil where no app is expected to show anything.
    let verifier: AppAttestVerifier?
    let now: @Sendable () -> Date

    func add(to group: RouterGroup<ServiceRequestContext>) {
        group.post("/mam/v1/registrations/:id/evidence", use: receive)
    }

    @Sendable private func receive(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let caller = try await gate.caller(of: request) { try limits.admitCheckIn($0, at: now()) }.caller
        guard let verifier else { throw Refusal(.notFound, "not-found", "This service asks for no evidence.") }
        let message = try await RequestBodyReader.message(
            AppEvidence.self, of: request, atMost: Self.largestBody, named: caller.bodyDigest)
        let id = context.key("id")
        let (bundleID, known) = try await devices.evidence(ofRegistration: id, by: caller)
        let evidence: VerifiedEvidence
        do {
            evidence = try await self.evidence(
                message, registration: id, bundleID: bundleID, known: known, by: caller, verifier)
        } catch let refusal as Refusal {
            // A nonce that has passed is no sign of anything.
            if refusal.code == "evidence" { try await devices.noteRefusedEvidence(ofRegistration: id, by: caller) }
            throw refusal
        }
        try await devices.keepEvidence(evidence, ofRegistration: id, by: caller)
        return try Response(.ok, AppEvidenceResult(nextEvidenceSeconds: Self.interval))
    }

    private func evidence(
        _ message: AppEvidence, registration id: String, bundleID: String, known: VerifiedEvidence?,
        by caller: DeviceCaller, _ verifier: AppAttestVerifier
    ) async throws -> VerifiedEvidence {
        let moment = now()
        guard gate.proofs.nonces.accepts(message.nonce, at: moment) else { throw Refusal.staleNonce }
        guard let keyID = Base64URL.decode(message.keyID), keyID.count == 32 else {
            throw AppAttestVerifier.refusal("the key's name is malformed")
        }
        let challenge = AppEvidence.challenge(
            registrationID: id, keyThumbprint: caller.keyThumbprint, nonce: message.nonce)
        switch (message.attestation, message.assertion) {
        case (let text?, nil):
            let attestation = try Self.bytes(text)
            return try await verifier.attested(
                attestation, keyID: keyID, challenge: challenge, bundleID: bundleID, at: moment)
        case (nil, let text?):
            guard let known, known.keyID == keyID else {
                throw Refusal(.conflict, "evidence-unknown-key", "The key is not known here; attest it, or a new one.")
            }
            return try verifier.asserted(
                Self.bytes(text), by: known, challenge: challenge, bundleID: bundleID, at: moment)
        default:
            throw Refusal.malformedBody("attestation or assertion, and not both")
        }
    }

    private static func bytes(_ text: String) throws -> Data {
        guard let bytes = Base64URL.decode(text), bytes.count <= AppAttestVerifier.largest else {
            throw AppAttestVerifier.refusal("the evidence cannot be read")
        }
        return bytes
    }
}
