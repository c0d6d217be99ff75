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
    let service: any ManagementService
    /// The service's address as clients see it, without a slash at its end.
    let base: String
    let tenant: TenantID
    let revoked: RevokedSessions

    /// Who sends the request, and until when its token is good.
    func caller(of request: Request) async throws(CheckInRefusal) -> (caller: DeviceCaller, until: Date) {
        let text = try accessToken(of: request)
        let token: AccessToken
        do {
            token = try await tokens.verify(text, for: .checkIn)
            try await revoked.check(token)
        } catch {
            throw CheckInRefusal(error)
        }
        guard let account = token.account, let thumbprint = token.keyThumbprint else {
            throw CheckInRefusal(TokenRefusal(.unprovedKey, "the token names no person or no key"))
        }
        let proof = try proof(of: request, accessToken: text, madeBy: thumbprint)
        let caller = DeviceCaller(account: account, key: proof.key, authenticated: token.authenticated)
        return (caller, token.expires)
    }

    /// Who reports on a registration: as ``caller(of:)``, with a proof by the registration's key alone, or with a
    /// receipt that this key signed.
    ///
    /// A wipe destroys tokens and key before it reports, so its report cannot need either: the receipt was signed while
    /// the key was there, names the command, and says the same however often it is sent.
    func reporter(
        of request: Request, registration id: String, receipt: String?
    ) async throws(CheckInRefusal) -> DeviceCaller {
        if request.headers.contains(.authorization) { return try await caller(of: request).caller }
        // Read on the service's own behalf. Ids are random, so asking for one tells a stranger nothing.
        let reader = Administrator(tenant: tenant, id: "check-in", name: "check-in", roles: [.reader])
        let registration: Registration
        do {
            registration = try await service.registration(id, as: reader)
        } catch  where error.code == .notFound {
            throw CheckInRefusal(TokenRefusal(.missing, "no access token came with the request"))
        } catch {
            throw CheckInRefusal(error)
        }
        let caller = DeviceCaller(account: registration.account, key: registration.key)
        if !request.headers.contains(.dpop), let receipt {
            guard (try? WipeReceipt(verifying: receipt, signedBy: registration.key))?.registrationID == id else {
                throw CheckInRefusal(TokenRefusal(.unprovedKey, "the registration's key did not sign the receipt"))
            }
            return caller
        }
        _ = try proof(of: request, accessToken: nil, madeBy: registration.key.thumbprint)
        return caller
    }

    private func accessToken(of request: Request) throws(CheckInRefusal) -> String {
        let fields = request.headers[values: .authorization]
        guard fields.count == 1 else {
            throw CheckInRefusal(TokenRefusal(.missing, "exactly one access token must come with the request"))
        }
        let parts = fields[0].split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "dpop" else {
            throw CheckInRefusal(TokenRefusal(.missing, "the access token must be sent with the scheme DPoP"))
        }
        return String(parts[1])
    }

    private func proof(
        of request: Request, accessToken: String?, madeBy thumbprint: String
    ) throws(CheckInRefusal) -> DPoPProof {
        guard let url = URL(string: base + request.uri.path) else {
            throw CheckInRefusal(.invalid("the request's path is no part of a URL"))
        }
        do throws(ProofRefusal) {
            return try proofs.verify(
                request.headers[values: .dpop], method: request.method.rawValue, url: url, accessToken: accessToken,
                madeBy: thumbprint, demandsNonce: true)
        } catch {
            throw CheckInRefusal(error)
        }
    }
}
