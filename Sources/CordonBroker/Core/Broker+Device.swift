internal import CordonIdentity
internal import CordonProtocol
internal import CordonSignIn
internal import Foundation
internal import Logging

extension Broker {
    /// What is known of the device; nothing in it names a person.
    func deviceAnswer() -> BrokerAnswer {
        var warnings: [DeviceInformation.Warning] = []
        if configuration.isDevelopment { warnings.append(.development) }
        if !store.isHardwareBacked { warnings.append(.softwareKey) }
        if Self.memoryIsReadable { warnings.append(.memoryReadable) }
        let missing = missing
        var answer = BrokerAnswer()
        answer.device = DeviceInformation(
            mode: missing.isEmpty ? .shared : .personal, missing: missing, registration: state.registration?.facts,
            brokerVersion: Self.version, protocolVersion: Self.protocolVersion, session: state.session,
            warnings: warnings, preferredAuthenticationMethod: configuration.preferredAuthenticationMethod)
        return answer
    }

    /// Whether programs of one user may read each other's memory; read once, since it takes an administrator to change.
    private static let memoryIsReadable =
        (try? String(contentsOfFile: "/proc/sys/kernel/yama/ptrace_scope", encoding: .utf8))?.hasPrefix("0") ?? true

    /// Joins the device to the organisation of whoever signs in, who must have the role; repeating it changes nothing.
    func join(_ request: BrokerRequest, _ key: RequestKey) async throws(SignInError) -> BrokerAnswer {
        try requireAdministrator(key.peer)
        guard state.account == nil else {
            throw SignInError(
                .brokerRefused, .brokerDenied, "somebody is signed in on this device", hint: "Sign out first.")
        }
        post(.registrationStart)
        let (tenant, issuer) = try await administratorsTenant(key)
        if let known = state.registration {
            guard known.facts.tenant == tenant else {
                throw SignInError(
                    .brokerRefused, .brokerDenied, "the device belongs to another organisation",
                    hint: "Have it removed there first.")
            }
            return deviceAnswer()
        }
        let signer = try store.deviceKey()
        let facts = DeviceInformation.Registration(
            deviceID: UUID().uuidString.lowercased(), tenant: tenant, issuer: issuer,
            keyThumbprint: signer.publicKey.thumbprint,
            since: Date(timeIntervalSince1970: environment.now().timeIntervalSince1970.rounded(.down)))
        let signed: String
        do throws(ProtocolError) {
            signed = try CompactJWS.sign(
                try MessageCoding.encode(facts), type: .deviceRegistration, with: signer, embedsKey: true)
        } catch {
            throw SignInError(.storage, .storeUnavailable, "the device's key could not sign its registration")
        }
        var changed = state
        changed.registration = BrokerState.RegistrationRecord(facts: facts, request: signed)
        changed.session += 1
        try commit(changed, telling: .registered)
        logger.notice("the device joined an organisation", metadata: ["device": "\(facts.deviceID)"])
        return deviceAnswer()
    }

    /// Ends the registration, the session and all they left here (SI-027).
    func leave(_ request: BrokerRequest, _ key: RequestKey) async throws(SignInError) -> BrokerAnswer {
        try requireAdministrator(key.peer)
        guard let registration = state.registration else { return deviceAnswer() }
        let (tenant, _) = try await administratorsTenant(key)
        guard tenant == registration.facts.tenant else {
            throw SignInError(.brokerRefused, .brokerDenied, "the administrator belongs to another organisation")
        }
        _ = try await endSession(endingBrowserSession: nil)
        try store.destroyDeviceKey()
        var changed = state
        changed.registration = nil
        changed.session += 1
        try commit(changed, telling: .registered)
        logger.notice("the device left its organisation")
        return deviceAnswer()
    }

    private func requireAdministrator(_ peer: Int) throws(SignInError) {
        guard isLocalAdministrator(try greeted(peer).caller) else {
            throw SignInError(
                .brokerRefused, .brokerDenied, "only a local administrator may join or remove this device",
                hint: "Run it as root or as the broker's user.")
        }
    }

    /// Signs an administrator in for one act, looks at the roles, and forgets the sign-in again.
    ///
    /// The token comes straight from the provider's token endpoint, for a proof key that never left this process; that
    /// is what its claims are believed for.
    private func administratorsTenant(_ key: RequestKey) async throws(SignInError) -> (TenantID, issuer: String) {
        let before = state.session
        var request = SignInRequest(
            scopes: configuration.administrationScopes, resource: configuration.administrationResource)
        request.prompt = .login
        let result = try await client.signIn(request, browser: launcher(key))
        let administrator = result.account
        if state.account?.facts.id != administrator.id { _ = try await client.retire(administrator.id) }
        guard state.session == before else { throw Self.overtaken }
        guard !RoleClaims.roles(in: result.accessToken.text).isDisjoint(with: configuration.joinRoles) else {
            throw SignInError(
                .brokerRefused, .brokerDenied, "joining and removing devices takes the role Cloud Device Administrator",
                hint: "Have somebody with that role sign in.")
        }
        return (administrator.tenant, administrator.issuer)
    }

    static var overtaken: SignInError {
        SignInError(.interactionRequired, .signedOut, "the device's account changed while somebody was signing in")
    }
}

/// The roles in a token that came from the provider itself.
enum RoleClaims {
    private struct Claims: Decodable {
        var roles: [String]?
        var wids: [String]?
    }

    /// Application roles and directory roles; none where the token is no JWT.
    static func roles(in token: String) -> Set<String> {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let body = Base64URL.decode(parts[1]),
            let claims = try? JSONDecoder().decode(Claims.self, from: body)
        else { return [] }
        return Set((claims.roles ?? []) + (claims.wids ?? []))
    }
}
