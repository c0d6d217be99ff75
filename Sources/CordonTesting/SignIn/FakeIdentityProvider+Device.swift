internal import CordonSignIn
internal import Foundation
internal import HTTPTypes

extension FakeIdentityProvider {
    /// The person types the code on another screen and signs in there, or says no when nil.
    public func enter(userCode: String, as person: FakePerson?) {
        for (code, grant) in deviceCodes where grant.userCode == userCode {
            deviceCodes[code]?.person = person
            deviceCodes[code]?.isDenied = person == nil
        }
    }

    func authorizeDevice(_ parameters: [String: String]) -> HTTPAnswer {
        guard parameters["client_id"] == clientID else {
            return Self.refusal("invalid_client", status: .unauthorized)
        }
        let code = UUID().uuidString
        let userCode = "WDJB-MJHT"
        deviceCodes[code] = DeviceGrant(
            scopes: Self.words(parameters["scope"]), userCode: userCode, expires: now() + 600)
        return Self.json([
            "device_code": code, "user_code": userCode, "verification_uri": issuer + "/activate",
            "verification_uri_complete": issuer + "/activate?user_code=" + userCode, "expires_in": 600, "interval": 5,
        ])
    }

    func pollDevice(_ parameters: [String: String], _ thumbprint: String?) -> HTTPAnswer {
        guard let code = parameters["device_code"], let grant = deviceCodes[code] else {
            return Self.refusal("invalid_grant")
        }
        guard now() < grant.expires else { return Self.refusal("expired_token") }
        if grant.isDenied { return Self.refusal("access_denied") }
        if faults.remove(.slowDownOnce) != nil { return Self.refusal("slow_down") }
        guard let person = grant.person else { return Self.refusal("authorization_pending") }
        deviceCodes[code] = nil
        return issue(
            Grant(person: person, scopes: grant.scopes, keyThumbprint: thumbprint), parameters, thumbprint,
            isRenewal: false)
    }
}
