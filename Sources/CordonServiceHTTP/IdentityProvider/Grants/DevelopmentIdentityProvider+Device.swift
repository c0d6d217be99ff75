import Foundation
import HTTPTypes
import Logging

extension DevelopmentIdentityProvider {
    /// Letters that make no words and are not mistaken for one another (RFC 8628 §6.1).
    private static let userCodeLetters = Array("BCDFGHJKLMNPQRSTVWXZ")
    /// How long an expired device code is still answered with `expired_token`.
    private static let afterExpiry: TimeInterval = 600
    /// What `slow_down` adds to the interval (RFC 8628 §3.5).
    private static let slowDown: TimeInterval = 5
    /// What two clocks may differ by over one interval.
    private static let pollTolerance: TimeInterval = 0.25

    private struct DeviceAnswer: Encodable {
        let device_code: String
        let user_code: String
        let verification_uri: String
        let verification_uri_complete: String
        let expires_in: Int
        let interval: Int
    }

    /// The device authorization endpoint.
    func authorizeDevice(_ request: ProviderRequest, issuer: String) throws(OAuthError) -> ProviderAnswer {
        let client = try authenticatedClient(request, issuer: issuer)
        guard client.grants.contains(.deviceCode) else {
            throw OAuthError(.unauthorizedClient, "this client may not use device codes")
        }
        let access = try ProviderAccess(request.form, client: client, configuration: configuration)
            .checkedForPerson(configuration)
        let now = clock()
        let deviceCode = randomText()
        let userCode = newUserCode()
        let expires = now.addingTimeInterval(seconds(\.deviceCode))
        let interval = seconds(\.devicePollInterval)
        let key = Self.digest(deviceCode)
        devices.insert(
            ProviderDeviceAuthorization(
                clientID: client.id, access: access, expires: expires, interval: interval, lastPoll: now),
            for: key, until: expires.addingTimeInterval(Self.afterExpiry), at: now)
        userCodes.insert(key, for: userCode, until: expires, at: now)
        let shown = userCode.prefix(4) + "-" + userCode.suffix(4)
        let page = ProviderEndpoint.device.address(issuer)
        return .json(
            DeviceAnswer(
                device_code: deviceCode, user_code: String(shown), verification_uri: page,
                verification_uri_complete: page + "?user_code=" + shown, expires_in: Int(seconds(\.deviceCode)),
                interval: Int(interval)))
    }

    private func newUserCode() -> String {
        var code = ""
        while code.count < 8 {
            // Bytes from 240 up would make some letters likelier than others.
            for byte in random(16) where byte < 240 && code.count < 8 {
                code.append(Self.userCodeLetters[Int(byte) % Self.userCodeLetters.count])
            }
        }
        return code
    }

    /// The page where a person enters the code of a device, and its form.
    func device(_ request: ProviderRequest, issuer: String) throws(OAuthError) -> ProviderAnswer {
        guard request.method == .post else {
            let page = open(.deviceEntry, mustSignIn: false, for: request)
            return deviceCodePage(page, userCode: try request.query.value("user_code") ?? "", issuer: issuer)
        }
        guard let page = try interaction(of: request, issuer: issuer), case .deviceEntry = page.interaction.purpose
        else { return staleForm(issuer) }
        let typed = try request.form.value("user_code") ?? ""
        let code = typed.uppercased().filter(Self.userCodeLetters.contains)
        let now = clock()
        if let wait = userCodeLimiter.begin("device", at: now) {
            return deviceCodePage(
                page, userCode: typed, failure: "Too many codes were tried. Wait \(wait) seconds.",
                status: .tooManyRequests, issuer: issuer)
        }
        guard let key = userCodes.value(code, at: now), case .pending = devices.value(key, at: now)?.state else {
            return deviceCodePage(
                page, userCode: typed, failure: "This code is not known or has expired.", status: .badRequest,
                issuer: issuer)
        }
        userCodeLimiter.giveBack("device", at: now)
        let next = update(page) { $0.purpose = .device(key) }
        guard let signedIn = session(of: request) else {
            return signInPage(update(next) { $0.mustSignIn = true }, issuer: issuer)
        }
        return decisionPage(next, person: signedIn.person, issuer: issuer)
    }

    private func deviceCodePage(
        _ page: OpenPage, userCode: String, failure: String? = nil, status: HTTPResponse.Status = .ok, issuer: String
    ) -> ProviderAnswer {
        let nonce = randomText(16)
        let html = pages.deviceCode(
            form(page, to: .device, issuer: issuer), userCode: userCode, failure: failure, nonce: nonce)
        return answer(html, nonce: nonce, status: status, page: page, issuer: issuer)
    }

    /// A person's decision on a device; it counts once.
    func decide(device key: String, allowed: Bool, signedIn: SignedIn, issuer: String) -> ProviderAnswer {
        let now = clock()
        guard let device = devices.value(key, at: now), case .pending = device.state, device.expires > now else {
            return message(
                "This code is no longer valid", "Start again on the device.", status: .badRequest, issuer: issuer)
        }
        let state: ProviderDeviceAuthorization.State =
            allowed
            ? .approved(makeGrant(clientID: device.clientID, access: device.access, signedIn: signedIn)) : .denied
        devices.update(key, at: now) { $0.state = state }
        logger.info(
            "device decided",
            metadata: [
                "client": "\(device.clientID)", "person": "\(signedIn.person.id)",
                "allowed": "\(allowed)",
            ])
        return allowed
            ? message("The device is connected", "You may close this page.", issuer: issuer)
            : message("The device was refused", "You may close this page.", issuer: issuer)
    }

    /// What a poll of the device gets: the grant once, or the reason to wait or to stop.
    func redeem(deviceCode: String, client: IdentityProviderClient) throws(OAuthError) -> ProviderGrant {
        let now = clock()
        let key = Self.digest(deviceCode)
        guard let device = devices.value(key, at: now), device.clientID == client.id else {
            throw OAuthError(.invalidGrant, "the device code is not known")
        }
        if case .redeemed = device.state { throw OAuthError(.invalidGrant, "the device code was used") }
        guard device.expires > now else { throw OAuthError(.expiredToken, "the device code has expired") }
        switch device.state {
        case .approved(let grant):
            devices.update(key, at: now) { $0.state = .redeemed }
            return grant
        case .denied: throw OAuthError(.accessDenied, "the person refused")
        case .redeemed, .pending:
            let early = now.timeIntervalSince(device.lastPoll) < device.interval - Self.pollTolerance
            devices.update(key, at: now) {
                $0.lastPoll = now
                if early { $0.interval += Self.slowDown }
            }
            throw early
                ? OAuthError(.slowDown, "wait for the interval, and five seconds more from now on")
                : OAuthError(.authorizationPending, "the person has not decided yet")
        }
    }
}
