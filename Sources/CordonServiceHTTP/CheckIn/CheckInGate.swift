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
        let (text, token) = try await accessToken(of: request)
        do { try await revoked.check(token) } catch { throw CheckInRefusal(error) }
        return (try holder(of: token, text, in: request), token.expires)
    }

    /// Who checks in: as ``caller(of:)``, and besides, with a proof by the registration's key, somebody whose account was
    /// disabled or removed (SRV-TG-32).
    ///
    /// Such an account has no tokens any more, and would otherwise be told neither that nor what it has to wipe.
    func visitor(of request: Request, registration id: String) async throws(CheckInRefusal) -> DeviceCaller {
        guard request.headers.contains(.authorization) else {
            let missing = TokenRefusal(.missing, "no access token came with the request")
            guard request.headers.contains(.dpop) else { throw CheckInRefusal(missing) }
            let visitor = try await reporter(of: request, registration: id, receipt: nil)
            return try await confirmDisabled(visitor, or: missing)
        }
        let (text, token) = try await accessToken(of: request)
        do {
            try await revoked.check(token)
        } catch  where error.code == .revoked {
            return try await confirmDisabled(try holder(of: token, text, in: request), or: error)
        } catch {
            throw CheckInRefusal(error)
        }
        return try holder(of: token, text, in: request)
    }

    private func confirmDisabled(
        _ visitor: DeviceCaller, or refusal: TokenRefusal
    ) async throws(CheckInRefusal) -> DeviceCaller {
        let isDisabled = try await CheckInRefusal.asking { () throws(ServiceError) in
            try await service.isAccountDisabled(visitor.account.id, of: tenant)
        }
        guard isDisabled else { throw CheckInRefusal(refusal) }
        return visitor
    }

    private func holder(
        of token: AccessToken, _ text: String, in request: Request
    ) throws(CheckInRefusal) -> DeviceCaller {
        guard let account = token.account, let thumbprint = token.keyThumbprint else {
            throw CheckInRefusal(TokenRefusal(.unprovedKey, "the token names no person or no key"))
        }
        let proof = try proof(of: request, accessToken: text, madeBy: thumbprint)
        return DeviceCaller(account: account, key: proof.key, authenticated: token.authenticated)
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

    private func accessToken(of request: Request) async throws(CheckInRefusal) -> (text: String, token: AccessToken) {
        let fields = request.headers[values: .authorization]
        guard fields.count == 1 else {
            throw CheckInRefusal(TokenRefusal(.missing, "exactly one access token must come with the request"))
        }
        let parts = fields[0].split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "dpop" else {
            throw CheckInRefusal(TokenRefusal(.missing, "the access token must be sent with the scheme DPoP"))
        }
        let text = String(parts[1])
        do { return (text, try await tokens.verify(text, for: .checkIn)) } catch { throw CheckInRefusal(error) }
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
