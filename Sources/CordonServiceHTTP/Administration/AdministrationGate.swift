import CordonIdentity
import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

/// Lets a request of an administrator or a program through (SRV-OP-016, 019, 020, 022).
struct AdministrationGate: Sendable {
    let tokens: AccessTokenVerifier
    let proofs: ProofVerifier
    /// The service's address as clients see it, without a slash at its end.
    let base: String

    /// The verified token of a request. A token bound to a key is only good with a proof by that key.
    func token(of request: Request) async throws(TokenRefusal) -> AccessToken {
        let fields = request.headers[values: .authorization]
        guard fields.count == 1 else {
            throw TokenRefusal(.missing, "exactly one access token must come with the request")
        }
        let parts = fields[0].split(separator: " ", maxSplits: 1)
        let scheme = parts.first?.lowercased() ?? ""
        guard parts.count == 2, scheme == "bearer" || scheme == "dpop" else {
            throw TokenRefusal(.missing, "the access token must be sent with the scheme Bearer or DPoP")
        }
        let text = String(parts[1])
        let token = try await tokens.verify(text, for: .administration)
        guard let thumbprint = token.keyThumbprint else {
            guard scheme == "bearer" else { throw TokenRefusal(.unprovedKey, "the token is not bound to a key") }
            return token
        }
        guard scheme == "dpop", let url = URL(string: base + request.uri.path) else {
            throw TokenRefusal(.unprovedKey, "the token is bound to a key and came without the scheme DPoP")
        }
        do throws(ProofRefusal) {
            _ = try proofs.verify(
                request.headers[values: .dpop], method: request.method.rawValue, url: url, accessToken: text,
                madeBy: thumbprint, demandsNonce: false)
        } catch {
            throw TokenRefusal(.unprovedKey, "the proof that came with the token was refused")
        }
        return token
    }

    /// Who asks, with the roles that the token gives for this kind of request.
    ///
    /// - Throws: ``TokenRefusal`` with code `insufficientScope` when the token was not given for such requests.
    func administrator(_ token: AccessToken, for access: AdministrationAccess) throws(TokenRefusal) -> Administrator {
        guard token.isApplication || !token.scopes.isDisjoint(with: access.scopes) else {
            throw TokenRefusal(
                .insufficientScope, "the token has none of the scopes \(access.scopes.sorted().joined(separator: ", "))"
            )
        }
        return Administrator(
            tenant: token.tenant, id: token.subject.rawValue,
            name: token.userPrincipalName ?? token.clientID ?? token.subject.rawValue, roles: Self.roles(of: token))
    }

    /// Cordon's roles by their own names; a program's Graph permissions count as the roles that include as much.
    private static func roles(of token: AccessToken) -> Set<AdministratorRole> {
        var roles = Set(token.roles.compactMap(AdministratorRole.init(rawValue:)))
        // The directory role's own name, as providers write it.
        if token.roles.contains("Cloud Device Administrator") { roles.insert(.cloudDeviceAdministrator) }
        guard token.isApplication else { return roles }
        if token.roles.contains("DeviceManagementApps.Read.All") { roles.insert(.reader) }
        if token.roles.contains("DeviceManagementApps.ReadWrite.All") {
            roles.formUnion([.policyAdministrator, .deviceAdministrator])
        }
        if token.roles.contains("Group.ReadWrite.All") { roles.insert(.directoryAdministrator) }
        return roles
    }
}
