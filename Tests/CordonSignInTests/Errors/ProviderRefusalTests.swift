import Foundation
import HTTPTypes
import Testing

@testable import CordonSignIn

/// What a provider's finer codes mean (SI-143, SI-156).
@Suite struct ProviderRefusalTests {
    @Test(
        arguments: [
            ("device_registration_required", .deviceNotJoined, .deviceRegistrationRequired, -50001),
            ("protection_policy_required", .protectionRequired, .protectionPolicyRequired, -50004),
            ("password_reset_required", .server, .passwordResetRequired, -50142),
            ("something_new", .interactionRequired, .invalidGrant, -50002),
        ] as [(String, SignInError.Code, SignInFault, Int)])
    func `a condition of the organisation is a case of its own`(
        subError: String, code: SignInError.Code, fault: SignInFault, msal: Int
    ) {
        let body = #"{"error": "invalid_grant", "suberror": "\#(subError)", "claims": "{}"}"#
        let answer = HTTPAnswer(head: HTTPResponse(status: .badRequest), body: Data(body.utf8))
        let error = OAuthFailure.error(for: answer, grant: .refresh, correlationID: nil)
        #expect(error.code == code && error.fault == fault && error.msalCode == msal)
        #expect(error.details.subError == subError && error.details.oauthError == "invalid_grant")
        #expect(error.details.claims == "{}" && error.details.httpStatus == 400)
    }

    @Test func `a proof that the provider refuses has the device's clock looked at`() {
        let body = Data(#"{"error": "invalid_dpop_proof"}"#.utf8)
        let answer = HTTPAnswer(head: HTTPResponse(status: .badRequest), body: body)
        let error = OAuthFailure.error(for: answer, grant: .refresh, correlationID: nil)
        #expect(error.code == .server && error.hint.hasPrefix("Check this device's date and time"))
    }
}
