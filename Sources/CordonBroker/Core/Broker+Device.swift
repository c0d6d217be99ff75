internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import CordonSignIn
internal import CordonSignatures
internal import Crypto
internal import Foundation
internal import Logging

extension Broker {
    /// What is known of the device; nothing in it names a person.
    func deviceInformation(_ request: RequestContext) async throws(SignInError) -> DeviceInformation {
        // Looking for problems reads many files: no app can make the broker do that.
        guard isLocalAdministrator(try connections.greeted(request.peer).caller) else { return device }
        let programs = ListedPrograms(configuration)
        var problems = programs.mistakes.map {
            "\(ThrottledLog.plain($0.path)) cannot be served: \($0.objection.reason)"
        }
        problems += await programs.outdated(by: digests).map {
            "\(ThrottledLog.plain($0)) cannot be served: it has not the digest of the list, as after an upgrade, or cannot be read"
        }
        return administratorDevice(problems)
    }

    /// The same where no programs are read for it; nil for an administrator where programs are listed.
    func quickDeviceInformation(
        _ request: RequestContext
    ) throws(SignInError) -> BrokerRoute.KnownAnswer<DeviceInformation>? {
        guard isLocalAdministrator(try connections.greeted(request.peer).caller) else {
            let device = device
            if let written = writtenDevice, written.answer == device { return Self.lasting(written) }
            let fresh = WrittenAnswer(device)
            writtenDevice = fresh
            return Self.lasting(fresh)
        }
        guard configuration.apps.isEmpty else { return nil }
        // Nothing tells of a change of the system's settings, and to read them each time would cost more than the question.
        let now = environment.now()
        return BrokerRoute.KnownAnswer(written: WrittenAnswer(administratorDevice()), lasts: now..<now + 1)
    }

    private static func lasting(
        _ written: WrittenAnswer<DeviceInformation>
    ) -> BrokerRoute.KnownAnswer<DeviceInformation> {
        BrokerRoute.KnownAnswer(written: written, lasts: .distantPast ..< .distantFuture)
    }

    /// What an administrator is told, with the system's settings as they are now: this is where they look whether a remedy helped.
    private func administratorDevice(_ programs: [String] = []) -> DeviceInformation {
        memoryIsReadable = Self.letsProgramsReadMemory(by: systemSettings)
        var answer = device
        let found = programs + problems
        if !found.isEmpty { answer.problems = found }
        return answer
    }

    /// What does not work here and an administrator can mend, beside the list's programs.
    private var problems: [String] {
        var found: [String] = []
        if Self.letsUsersKeepOldPrograms(Self.setting("fs/protected_hardlinks", in: systemSettings)) {
            found.append(
                "fs.protected_hardlinks is 0: a user can keep an app's earlier version after an upgrade; set it to 1")
        }
        if configuration.apps.isEmpty, !configuration.isDevelopment { found.append("no app is listed") }
        if register == nil, !configuration.isDevelopment {
            found.append("no service is named, so no administrator can see or release this device from afar")
        }
        if let fault = reportFault { found.append("the service has not taken the newest report (\(fault.rawValue))") }
        return found
    }

    private var device: DeviceInformation {
        var warnings: [DeviceInformation.Warning] = []
        if configuration.isDevelopment { warnings.append(.development) }
        if !store.isHardwareBacked { warnings.append(.softwareKey) }
        if memoryIsReadable { warnings.append(.memoryReadable) }
        if seat == .unheard { warnings.append(.seatUnheard) }
        warnings += configuration.hostWarnings
        let missing = missing
        return DeviceInformation(
            mode: missing.isEmpty ? .shared : .personal, missing: missing, registration: state.registration?.facts,
            brokerVersion: Self.version, protocolVersion: Self.protocolVersion, session: state.session,
            warnings: warnings, preferredAuthenticationMethod: configuration.preferredAuthenticationMethod)
    }

    /// Whether programs of one user may read each other's memory.
    static func letsProgramsReadMemory(by settings: URL) -> Bool {
        letsProgramsReadMemory(setting("kernel/yama/ptrace_scope", in: settings))
    }

    /// What the system's setting says; without the setting nothing holds programs of one user apart (SI-200).
    static func letsProgramsReadMemory(_ setting: String?) -> Bool { setting?.hasPrefix("0") ?? true }

    /// Whether users may make hard links to programs that are not theirs, and so keep one with its group after it was replaced; without the
    /// setting, on a system that has none, there is nothing to set.
    static func letsUsersKeepOldPrograms(_ setting: String?) -> Bool { setting?.hasPrefix("0") ?? false }

    private static func setting(_ name: String, in settings: URL) -> String? {
        try? String(contentsOf: settings.appending(path: name), encoding: .utf8)
    }

    /// Joins the device to the organisation of the person who signs in, who must have the role; repeating it changes nothing.
    func join(_ request: RequestContext) async throws(SignInError) -> DeviceInformation {
        try requireAdministrator(request.peer)
        guard state.account == nil else {
            throw SignInError(
                .brokerRefused, .brokerDenied, "an account is signed in on this device", hint: "Sign out first.")
        }
        post(.registrationStart)
        let administrator = try await administrator(request.key)
        try checkPolicy(allows: administrator.tenant)
        if let known = state.registration {
            guard known.facts.tenant == administrator.tenant else {
                throw SignInError(
                    .brokerRefused, .brokerDenied, "the device belongs to another organisation",
                    hint: "Have it removed there first.")
            }
            try await register?.register(
                known.request, name: configuration.deviceName, vouchedBy: administrator.voucher)
            return device
        }
        let before = state.session
        let record = try registration(in: administrator.tenant, at: administrator.issuer)
        // The service first: a device that it does not take has no record here either (SI-005).
        try await register?.register(
            record.request, name: configuration.deviceName, vouchedBy: administrator.voucher)
        guard state.session == before else { throw Self.overtaken }
        var changed = state
        changed.registration = record
        changed.wasShared = isTurnedOn ? true : nil
        changed.session += 1
        changed.changed = environment.now()
        try commit(changed, telling: .registered)
        logger.notice("the device joined an organisation", metadata: ["device": "\(record.facts.deviceID)"])
        reportSoon()
        return device
    }

    /// What the device says of itself, signed by its key. The key decides the id, so that a join that was cut short is
    /// the same device when it is repeated.
    private func registration(
        in tenant: TenantID, at issuer: String
    ) throws(SignInError) -> BrokerState.RegistrationRecord {
        let signer = try store.deviceKey()
        let facts = DeviceInformation.Registration(
            deviceID: Self.deviceID(signer.publicKey.thumbprint), tenant: tenant, issuer: issuer,
            keyThumbprint: signer.publicKey.thumbprint,
            since: Date(timeIntervalSince1970: environment.now().timeIntervalSince1970.rounded(.down)))
        do {
            let signed = try CompactJWS.sign(
                try MessageCoding.encode(facts), type: .deviceRegistration, with: signer, embedsKey: true)
            return BrokerState.RegistrationRecord(facts: facts, request: signed)
        } catch {
            throw SignInError(.storage, .storeUnavailable, "the device's key could not sign its registration")
        }
    }

    /// An id as a UUID of version 8 (RFC 9562 §5.8), from the thumbprint of the device's key.
    private static func deviceID(_ thumbprint: String) -> String {
        var bytes = Array(SHA256.hash(data: Data("cordon device 1\n\(thumbprint)".utf8)).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        return bytes.uuidText
    }

    /// Ends the registration, the session and all they left here (SI-027).
    func leave(_ request: RequestContext) async throws(SignInError) -> DeviceInformation {
        try requireAdministrator(request.peer)
        guard let registration = state.registration else { return device }
        let administrator = try await administrator(request.key)
        guard administrator.tenant == registration.facts.tenant else {
            throw SignInError(.brokerRefused, .brokerDenied, "the administrator belongs to another organisation")
        }
        guard !Task.isCancelled else { throw SignInError(.cancelled, .stopped, "the device has not left") }
        // From here on it leaves as a whole, also where the administrator's command is stopped or its connection ends.
        return try await Task { await end(registration.facts.deviceID, vouchedBy: administrator.voucher) }.value.get()
    }

    private func end(
        _ deviceID: String, vouchedBy voucher: ServiceRegister.Voucher
    ) async -> Result<DeviceInformation, SignInError> {
        do { return .success(try await leave(deviceID, vouchedBy: voucher)) } catch { return .failure(error) }
    }

    /// Ends the session, tells the service and forgets the registration.
    private func leave(
        _ deviceID: String, vouchedBy voucher: ServiceRegister.Voucher
    ) async throws(SignInError) -> DeviceInformation {
        try await endForGood()
        // The service before the registration: a broker that is killed in between hears from it that the device was released. The device
        // is free whatever becomes of this; the administrator learns of it.
        var fault: SignInFault?
        do { try await register?.release(deviceID, vouchedBy: voucher) } catch { fault = error.fault }
        // While the service was waited for, another command may have finished this, and the device may even have joined anew.
        if state.registration?.facts.deviceID == deviceID { try await forgetRegistration() }
        var answer = device
        if let fault {
            logger.error(
                "the service was not told that the device left",
                metadata: ["device": "\(deviceID)", "fault": "\(fault.rawValue)"])
            answer.warnings.append(.serviceNotTold)
            answer.problems = [
                "the service still lists this device: release it there (DELETE /admin/v1/devices/\(deviceID))"
            ]
        }
        return answer
    }

    /// Refuses to join another organisation than the policy's.
    private func checkPolicy(allows tenant: TenantID) throws(SignInError) {
        guard configuration.policy.map({ $0.tenant == tenant }) ?? true else {
            throw SignInError(
                .brokerRefused, .brokerDenied, "the device's policy is for another organisation",
                hint: "Install the policy of the administrator's organisation.")
        }
    }

    private func requireAdministrator(_ peer: Int) throws(SignInError) {
        guard isLocalAdministrator(try connections.greeted(peer).caller) else {
            throw SignInError(
                .brokerRefused, .brokerDenied, "only a local administrator may join or remove this device",
                hint: "Run it as root or as the broker's user.")
        }
    }

    /// A person who may join and remove devices, for one act.
    private struct DeviceAdministrator {
        let tenant: TenantID
        let issuer: String
        let voucher: ServiceRegister.Voucher
    }

    /// Signs an administrator in for one act, looks at the roles, and forgets the sign-in again.
    ///
    /// The token comes straight from the provider's token endpoint, for a proof key that never left this process; that
    /// is what its claims are believed for.
    private func administrator(_ key: RequestKey) async throws(SignInError) -> DeviceAdministrator {
        // First, as before every sign-in: an end that is only now told would be taken for that of the sign-in under way.
        try await removeLeft()
        let before = state.session
        var request = SignInRequest(
            scopes: configuration.administrationScopes, resource: configuration.administrationResource)
        request.prompt = .login
        // The service is told by a token that is bound to this process's key.
        request.requiresProofOfPossession = true
        let result: SignInResult
        do { result = try await client.signIn(request, browser: launcher(key)) } catch {
            if let administrator = try await signedIn(despite: error) { try await letGo(administrator) }
            throw error
        }
        let administrator = result.account
        let signer = try? await client.signer(for: administrator.id)
        try await letGo(administrator)
        guard state.session == before else { throw Self.overtaken }
        guard let signer else {
            throw SignInError(.storage, .storeUnavailable, "the key of the administrator's token cannot be read")
        }
        guard !RoleClaims.roles(in: result.accessToken.text).isDisjoint(with: configuration.joinRoles) else {
            throw SignInError(
                .brokerRefused, .brokerDenied, "joining and removing devices takes the role Cloud Device Administrator",
                hint: "Have an administrator with that role sign in.")
        }
        return DeviceAdministrator(
            tenant: administrator.tenant, issuer: administrator.issuer,
            voucher: ServiceRegister.Voucher(token: result.accessToken, signer: signer))
    }

    static var overtaken: SignInError {
        SignInError(.interactionRequired, .signedOut, "the device's account changed during the sign-in")
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
        guard let body = SignedText.unverifiedPayload(of: token),
            let claims = try? JSONDecoder().decode(Claims.self, from: body)
        else { return [] }
        return Set((claims.roles ?? []) + (claims.wids ?? []))
    }
}
