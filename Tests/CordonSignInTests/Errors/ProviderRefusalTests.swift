import CordonBase
import CordonIdentity
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

    @Test(arguments: [#""client_info": {"uid": "oid-a"}"#, #""adi": 5"#, #""suberror": null"#, #""claims": {}"#])
    func `a refusal counts, whatever kind of value stands beside its code`(member: String) {
        let body = Data(#"{"error": "invalid_grant", \#(member)}"#.utf8)
        let answer = HTTPAnswer(head: HTTPResponse(status: .badRequest), body: body)
        let error = OAuthFailure.error(for: answer, grant: .refresh, correlationID: nil)
        #expect(error.code == .interactionRequired && error.fault == .invalidGrant)
    }

    @Test func `a proof that the provider refuses has the device's clock looked at`() {
        let body = Data(#"{"error": "invalid_dpop_proof"}"#.utf8)
        let answer = HTTPAnswer(head: HTTPResponse(status: .badRequest), body: body)
        let error = OAuthFailure.error(for: answer, grant: .refresh, correlationID: nil)
        #expect(error.code == .server && error.hint.hasPrefix("Check this device's date and time"))
    }

    @Test(
        arguments: [
            (#"{"uid": "oid-a", "utid": "contoso"}"#, "oid-a"), (#"{"uid": "oid-a", "utid": ""}"#, nil),
            (#"{"uid": "", "utid": "contoso"}"#, nil), (#"{"uid": "oid-a"}"#, nil), ("[]", nil), ("", nil),
        ] as [(String, AccountID?)])
    func `an account that has to be protected first is named only where the provider says all of it`(
        info: String, account: AccountID?
    ) {
        func error(_ subError: String, _ more: String) -> SignInError {
            let encoded = Base64URL.encode(Data(info.utf8))
            let body = #"{"error": "e", "suberror": "\#(subError)", "client_info": "\#(encoded)"\#(more)}"#
            let answer = HTTPAnswer(head: HTTPResponse(status: .badRequest), body: Data(body.utf8))
            return OAuthFailure.error(for: answer, grant: .code, correlationID: nil)
        }
        let named = error("protection_policy_required", #", "adi": "a@contoso.example""#)
        #expect(named.code == .protectionRequired && named.details.account == account)
        #expect(named.details.accountToProtect?.id == account)
        #expect(named.details.accountToProtect?.userPrincipalName == account.map { _ in "a@contoso.example" })
        #expect(
            error("protection_policy_required", "").details.accountToProtect?.userPrincipalName == account?.rawValue)
        #expect(error("password_reset_required", "").details.accountToProtect == nil)
    }
}
