import CordonIdentity
import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

/// Lets a request of an app through when its token and its proof are good (SRV-CI-078, SRV-CI-080).
struct CheckInGate: Sendable {
    let tokens: AccessTokenVerifier
    let proofs: ProofVerifier
    let devices: DeviceService
    /// The service's address as clients see it, without a slash at its end.
    let base: String
    let tenant: TenantID
    let revoked: RevokedSessions
    /// The most proofs of one key that are remembered at once.
    let proofsOfKey: Int
    let now: @Sendable () -> Date
    /// Which key first came with each token that its provider bound to none.
    private let users = TokenUsers()

    init(
        tokens: AccessTokenVerifier, proofs: ProofVerifier, devices: DeviceService, base: String, tenant: TenantID,
        revoked: RevokedSessions, proofsOfKey: Int, now: @escaping @Sendable () -> Date
    ) {
        self.tokens = tokens
        self.proofs = proofs
        self.devices = devices
        self.base = base
        self.tenant = tenant
        self.revoked = revoked
        self.proofsOfKey = proofsOfKey
        self.now = now
    }

    /// How old a token may be that brings a new key, where no provider bound it to that key, in seconds.
    static let freshness: TimeInterval = 600

    /// Lets a caller through whose token and proof are good, or refuses one who asks too often. Comes before proof and token are
    /// remembered, so that a request that was held back leaves nothing behind.
    typealias Admission = (DeviceCaller) async throws -> Void

    /// Who enrols. A token that is bound to no key must be fresh: every holder of it may bring a key.
    func newcomer(of request: Request, admitting admission: Admission) async throws -> DeviceCaller {
        let (text, token) = try await accessToken(of: request)
        try await revoked.check(token)
        if token.keyThumbprint == nil {
            let age = token.issued.map { now().timeIntervalSince($0) } ?? .infinity
            guard age <= Self.freshness else {
                throw TokenRefusal(
                    .expired,
                    "a token that is bound to no key enrols within \(Int(Self.freshness)) seconds of its making")
            }
        }
        return try await holder(of: token, text, in: request, admitting: admission)
    }

    /// Who sends the request, and until when its token is good.
    func caller(
        of request: Request, admitting admission: Admission
    ) async throws -> (caller: DeviceCaller, until: Date) {
        let (text, token) = try await accessToken(of: request)
        try await revoked.check(token)
        return (try await holder(of: token, text, in: request, admitting: admission), token.expires)
    }

    /// Who checks in: as ``caller(of:)``, and besides, with a proof by the registration's key, a person whose account was
    /// disabled or removed (SRV-TG-32).
    ///
    /// Such an account has no tokens any more, and would otherwise be told neither that nor what it has to wipe.
    ///
    /// - Returns: Besides, how a person whose account is not disabled is refused.
    func visitor(
        of request: Request, registration id: String, admitting admission: Admission
    ) async throws -> (caller: DeviceCaller, refusal: TokenRefusal?) {
        guard request.headers.contains(.authorization) else {
            let missing = TokenRefusal(.missing, "no access token came with the request")
            guard request.headers.contains(.dpop) else { throw missing }
            let visitor = try await reporter(of: request, registration: id, sending: nil, admitting: admission)
            return (visitor, try await isDisabled(visitor) ? nil : missing)
        }
        let (text, token) = try await accessToken(of: request)
        do {
            try await revoked.check(token)
        } catch {
            guard error.code == .revoked else { throw error }
            let visitor = try await holder(of: token, text, in: request, admitting: admission)
            return (visitor, try await isDisabled(visitor) ? nil : error)
        }
        return (try await holder(of: token, text, in: request, admitting: admission), nil)
    }

    private func isDisabled(_ visitor: DeviceCaller) async throws -> Bool {
        try await devices.isAccountDisabled(visitor.account.id, of: tenant)
    }

    private func holder(
        of token: AccessToken, _ text: String, in request: Request, admitting admission: Admission
    ) async throws -> DeviceCaller {
        guard let account = token.account else { throw TokenRefusal(.malformed, "the token names no person") }
        // A token that no key is bound to passed the verifier only where the registration's key is the one to prove, and
        // the service compares that one with the caller's.
        let proof = try proof(of: request, accessToken: text, madeBy: token.keyThumbprint)
        let caller = DeviceCaller(
            account: account, key: proof.key, authenticated: token.authenticated, otherSubject: token.otherSubject,
            bodyDigest: proof.bodyDigest)
        let key = proof.key.thumbprint
        let stolen = TokenRefusal(.unprovedKey, "the token came with another key before")
        // Looked at before anything is counted: who read the token must not use up the person's share. Noted only afterwards: who gets
        // tokens without end must not push out what is known of other people's.
        let isFree = token.keyThumbprint == nil
        guard !isFree || users.mayAdmit(text, provedBy: key) else { throw stolen }
        try await admission(caller)
        guard !isFree || users.admit(text, provedBy: key, until: token.expires, at: now()) else { throw stolen }
        try remember(proof)
        return caller
    }

    /// Who reports on a registration: as ``caller(of:admitting:)``, with a proof by the registration's key alone, or with a
    /// receipt that this key signed and that is about the command reported on.
    ///
    /// A wipe destroys tokens and key before it reports, so its report cannot need either: the receipt was signed while
    /// the key was there, names the command, and says the same however often it is sent.
    func reporter(
        of request: Request, registration id: String, sending acknowledgement: Acknowledgement?,
        admitting admission: Admission
    ) async throws -> DeviceCaller {
        if request.headers.contains(.authorization) {
            return try await caller(of: request, admitting: admission).caller
        }
        // Ids are random, so asking for one tells a stranger nothing.
        let holder = try await devices.holder(ofRegistration: id, of: tenant)
        guard var caller = holder else {
            throw TokenRefusal(.missing, "no access token came with the request")
        }
        if !request.headers.contains(.dpop), let acknowledgement, let text = acknowledgement.receipt {
            let receipt = try? WipeReceipt(verifying: text, signedBy: caller.key)
            // A stranger who has a receipt, from an export of the audit log for one, can repeat it and say nothing else.
            guard let receipt, receipt.registrationID == id, receipt.commandID == acknowledgement.commandID else {
                throw TokenRefusal(.unprovedKey, "the registration's key signed no such receipt for this command")
            }
            try await admission(caller)
            return caller
        }
        let proof = try proof(of: request, accessToken: nil, madeBy: caller.keyThumbprint)
        caller.bodyDigest = proof.bodyDigest
        try await admission(caller)
        try remember(proof)
        return caller
    }

    /// Refuses what is about no registration before its body is read, unless a token says who sends it.
    func requireRegistration(_ id: String, or request: Request) async throws {
        guard !request.headers.contains(.authorization) else {
            _ = try await accessToken(of: request)
            return
        }
        guard try await devices.holder(ofRegistration: id, of: tenant) != nil else {
            throw TokenRefusal(.missing, "no access token came with the request")
        }
    }

    private func accessToken(of request: Request) async throws -> (text: String, token: AccessToken) {
        let (scheme, text) = try request.accessToken
        let token = try await tokens.verify(text, for: .checkIn)
        // A scheme that does not fit would hide whether a key is bound (RFC 9449 §7.2).
        guard (token.keyThumbprint == nil) == (scheme == "bearer") else {
            throw TokenRefusal(
                .unprovedKey, "a token that is bound to a key comes with the scheme DPoP, and any other with Bearer")
        }
        return (text, token)
    }

    private func proof(
        of request: Request, accessToken: String?, madeBy thumbprint: String?
    ) throws -> DPoPProof {
        try proofs.check(
            request.headers[values: .dpop], method: request.method.rawValue, address: base + request.uri.path,
            accessToken: accessToken, madeBy: thumbprint, demandsNonce: true)
    }

    private func remember(_ proof: DPoPProof) throws { try proofs.remember(proof, share: proofsOfKey) }
}
