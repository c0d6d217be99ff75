import CordonIdentity
import CordonProtocol
package import CordonService
import Foundation
import HTTPTypes
package import Hummingbird

/// Lets a request of an administrator or a program through (SRV-OP-016, 019, 020, 022).
package struct AdministrationGate: Sendable {
    let tokens: AccessTokenVerifier
    let proofs: ProofVerifier
    /// The service's address as clients see it, without a slash at its end.
    let base: String
    /// Where roles of the organisation's own are.
    let administration: Administration
    package let revoked: RevokedSessions
    /// The roles that groups and roles of tokens have by what tokens call them, and people and programs by `user:` and
    /// their object id; what a further provider says, after its mark.
    var roleMapping: [String: Set<AdministratorRole>] = [:]
    /// How long ago a person may have signed in who asks for what cannot be taken back, in seconds; nil for ever.
    package var stepUpAge: Int?
    let now: @Sendable () -> Date
    /// Who works when.
    package let turns = AdministrationTurns()

    /// What stands before an object id in the names of who holds a role. Some providers let people choose their own
    /// `sub`, which must not pass for the name of a group.
    static let person = "user:"
    /// What stands before a name that only the claim `groups`, or only the claim `roles`, may give.
    private static let group = "group:"
    private static let role = "role:"
    /// What a provider may write before Cordon's own role names, to tell them from another product's.
    private static let qualifier = "cordon."

    /// The verified token of a request. A token bound to a key is only good with a proof by that key, or for who holds the key
    /// in this process.
    package func token(of request: Request, in context: ServiceRequestContext) async throws -> AccessToken {
        let (scheme, text) = try request.accessToken
        let token = try await tokens.verify(text, for: .administration)
        try await revoked.check(token, administers: true)
        guard let thumbprint = token.keyThumbprint else {
            guard scheme == "bearer" else { throw TokenRefusal(.unprovedKey, "the token is not bound to a key") }
            return token
        }
        guard scheme == "dpop" else {
            throw TokenRefusal(.unprovedKey, "the token is bound to a key and came without the scheme DPoP")
        }
        if let held = context.heldKey, held == thumbprint { return token }
        do {
            let proof = try proofs.check(
                request.headers[values: .dpop], method: request.method.rawValue, address: base + request.uri.path,
                accessToken: text, madeBy: thumbprint, demandsNonce: false)
            try proofs.remember(proof, share: ProofVerifier.shareOfAdministrator)
        } catch let refusal as Refusal where refusal == .busy {
            throw TokenRefusal(.busy, "too many proofs are remembered")
        } catch let refusal as Refusal where refusal == .staleNonce {
            var refusal = TokenRefusal(
                .unprovedKey, "shortly after a start of the service, a proof has to repeat the nonce of its answer")
            refusal.nonce = proofs.nonces.nonce(at: now())
            throw refusal
        } catch {
            throw TokenRefusal(.unprovedKey, "the proof that came with the token was refused")
        }
        return token
    }

    /// Who asks, with the roles that the token gives for this kind of request, and with what the request says of itself.
    ///
    /// - Parameter id: The request's id.
    /// - Throws: ``TokenRefusal`` with code `insufficientScope` when the token was not given for such requests.
    package func administrator(
        _ token: AccessToken, for access: AdministrationAccess, of request: Request, id: String
    ) async throws -> Administrator {
        var administrator = try await administrator(token, for: access)
        let reason = request.headers[.changeReason]
        administrator.call.reason = reason.map { $0.removingPercentEncoding ?? $0 }
        administrator.call.requestID = id
        administrator.call.impactToken = request.headers[.impactToken]
        administrator.call.keepsUnknownGroups = request.headers[values: .prefer].contains { field in
            field.split(separator: ",").contains {
                $0.lowercased().filter { $0 != " " && $0 != "\"" } == "unknown-groups=wait"
            }
        }
        try administrator.call.check()
        return administrator
    }

    /// Who asks, with the roles that the token gives for this kind of request.
    ///
    /// - Throws: ``TokenRefusal`` with code `insufficientScope` when the token was not given for such requests.
    package func administrator(
        _ token: AccessToken, for access: AdministrationAccess
    ) async throws -> Administrator {
        guard token.isApplication || !token.scopes.isDisjoint(with: access.scopes) else {
            throw noted(
                TokenRefusal(
                    .insufficientScope,
                    "the token has none of the scopes \(access.scopes.sorted().joined(separator: ", "))"), token)
        }
        let names = Self.names(of: token)
        var roles = Self.roles(of: token, mapping: roleMapping)
        // A permission to read one kind of thing makes a program a reader of that kind, and of nothing else (SRV-OP-019).
        if token.isApplication, access.isReadOnly, !token.roles.isDisjoint(with: access.scopes) {
            roles.insert(.reader)
        }
        // Without them the caller may do less, never more.
        let customRoles = (try? await administration.customRoles(heldBy: names, of: token.tenant)) ?? []
        if token.lacksGroups, roles.isEmpty, customRoles.isEmpty {
            tokens.refusals.note(
                "an administrator has no role, and their token no groups", code: "groups-left-out",
                reason: "the provider says that the groups are elsewhere, because they are too many for a token",
                hint: "give roles to people in its application, or have it send that application's groups alone",
                of: token.issuer)
        }
        return Administrator(
            tenant: token.tenant, id: token.subject.rawValue,
            name: token.userPrincipalName ?? (token.isApplication ? token.clientID : nil) ?? token.subject.rawValue,
            roles: roles,
            customRoles: customRoles,
            isProgram: token.isApplication,
            applicationPermissions: token.isApplication
                ? Self.applicationPermissions(of: token, mapping: roleMapping) : [],
            call: CallFacts(client: token.clientID, hasFreshSignIn: isFresh(token)))
    }

    /// Lets a person through to what cannot be taken back only soon after they proved who they are (SRV-OP-021). A
    /// program has no person to ask.
    ///
    /// - Throws: ``TokenRefusal`` with code `staleSignIn`.
    package func requireFreshSignIn(_ token: AccessToken) throws {
        guard let stepUpAge, !token.isApplication else { return }
        guard let signedIn = token.authenticated else {
            throw noted(
                TokenRefusal(
                    .staleSignIn,
                    "the token does not say when its person signed in, which the provider must put in auth_time"), token
            )
        }
        guard isFresh(signedIn, at: stepUpAge) else {
            throw TokenRefusal(.staleSignIn, "the person signed in more than \(stepUpAge) seconds ago")
        }
    }

    /// Whether ``requireFreshSignIn(_:)`` lets the token's holder through.
    func isFresh(_ token: AccessToken) -> Bool {
        guard let stepUpAge, !token.isApplication else { return true }
        guard let signedIn = token.authenticated else { return false }
        return isFresh(signedIn, at: stepUpAge)
    }

    private func isFresh(_ signedIn: Date, at stepUpAge: Int) -> Bool {
        now().timeIntervalSince(signedIn) <= Double(stepUpAge) + TokenRules.clockTolerance
    }

    /// What the holder of a token may be called where roles are given: by their groups and roles, and by their id.
    ///
    /// A plain name is a value of either claim; `group:` and `role:` say which. A group or role that is called like a person,
    /// like one of these or like another provider's group gives no name: a person who may create groups must not gain roles that way.
    private static func names(of token: AccessToken) -> Set<String> {
        func plain(_ names: Set<String>) -> Set<String> {
            names.filter { name in
                ![person, group, role].contains { name.hasPrefix($0) } && !IssuerMark.begins(name)
                    && isComposed(name)
            }
        }
        let (groups, roles) = (plain(token.groups), plain(token.roles))
        var names = Set(groups.union(roles).map { token.issuerMark + $0 })
        names.formUnion(groups.map { group + token.issuerMark + $0 })
        names.formUnion(roles.map { role + token.issuerMark + $0 })
        return names.union([person + token.subject.rawValue])
    }

    /// Whether a name is written in the usual form of its characters (Unicode UAX #15, NFC). Texts are compared as people read them, and
    /// a provider may let a person make a group whose name differs from another's in nothing but that form.
    private static func isComposed(_ name: String) -> Bool {
        name.utf8.allSatisfy { $0 < 0x80 } || name.utf8.elementsEqual(name.precomposedStringWithCanonicalMapping.utf8)
    }

    /// A refusal that points at the provider's settings rather than at the person is told to operators as well.
    private func noted(_ refusal: TokenRefusal, _ token: AccessToken) -> TokenRefusal {
        tokens.refusals.note(refusal, "an administration token does not suffice", of: token.issuer)
        return refusal
    }

    /// The roles that a token has, by its own claims and by a mapping of names.
    static func roles(
        of token: AccessToken, mapping: [String: Set<AdministratorRole>]
    ) -> Set<AdministratorRole> {
        names(of: token).reduce(into: roles(of: token)) { $0.formUnion(mapping[$1] ?? []) }
    }

    /// What a program was given by Cordon's own names of permissions and roles, and by a mapping of names.
    private static func applicationPermissions(
        of token: AccessToken, mapping: [String: Set<AdministratorRole>]
    ) -> Set<Permission> {
        let words = token.roles.map { $0.hasPrefix(qualifier) ? String($0.dropFirst(qualifier.count)) : $0 }
        let mapped = names(of: token).flatMap { mapping[$0] ?? [] }
        return (words.compactMap(AdministratorRole.init(rawValue:)) + mapped)
            .reduce(into: Set(words.compactMap(Permission.init(rawValue:)))) { $0.formUnion($1.permissions) }
    }

    /// Cordon's roles by their own names, also with ``qualifier`` before them; a program's Graph permissions count as the
    /// roles that include as much.
    ///
    /// A person's role that is the name of one of their groups as well is none: with a provider that gives the same words in
    /// both claims, a person who makes a group called `owner` would be one.
    private static func roles(of token: AccessToken) -> Set<AdministratorRole> {
        let words = token.isApplication ? token.roles : token.roles.subtracting(token.groups)
        var roles = Set(
            words.compactMap { word in
                AdministratorRole(rawValue: word.hasPrefix(qualifier) ? String(word.dropFirst(qualifier.count)) : word)
            })
        // The directory role's own name, as providers write it.
        if words.contains("Cloud Device Administrator") { roles.insert(.cloudDeviceAdministrator) }
        guard token.isApplication else { return roles }
        if token.roles.contains("DeviceManagementApps.Read.All") { roles.insert(.reader) }
        if token.roles.contains("DeviceManagementApps.ReadWrite.All") {
            roles.formUnion([.policyAdministrator, .deviceAdministrator])
        }
        if token.roles.contains("Group.ReadWrite.All") { roles.insert(.directoryAdministrator) }
        return roles
    }
}
