internal import CordonBase
internal import CordonIdentity
internal import Foundation
internal import HTTPTypes

/// What a provider says when it refuses (RFC 6749 §5.2), and what that means for the caller.
struct OAuthFailure: Decodable {
    /// In which exchange the refusal came; the same code means different things in each.
    enum Grant {
        case none, code, refresh, device
    }

    var error: String
    var errorDescription: String?
    var subError: String?
    var claims: String?
    /// Whose token was refused: base64url of a JSON object, and the name the person signs in with.
    var clientInfo: String?
    var userName: String?

    private enum CodingKeys: String, CodingKey {
        case error
        case errorDescription = "error_description"
        case subError = "suberror"
        case claims
        case clientInfo = "client_info"
        case userName = "adi"
    }

    /// What `client_info` holds: the parts of a home account id (SDK-EN-30).
    private struct ClientInfo: Decodable {
        var uid: String
        var utid: String
    }

    /// The error an answer stands for.
    static func error(for answer: HTTPAnswer, grant: Grant, correlationID: UUID?) -> SignInError {
        var details = SignInErrorDetails()
        details.httpStatus = answer.head.status.code
        details.correlationID = correlationID
        details.retryAfter = pause(answer)
        if answer.head.status.code == 429 || answer.head.status.code == 503 {
            details.retryAfter = details.retryAfter ?? .seconds(60)
            return SignInError(.serverBusy, .overloaded, "the identity provider asks for a pause", details: details)
        }
        guard let failure = try? JSONDecoder().decode(OAuthFailure.self, from: answer.body) else {
            return SignInError(
                .server, .unexpectedStatus, "the identity provider answered with status \(answer.head.status.code)",
                details: details)
        }
        return failure.error(grant: grant, details: details)
    }

    /// The error a refusal stands for.
    func error(grant: Grant, details: SignInErrorDetails) -> SignInError {
        var details = details
        details.oauthError = error
        details.subError = subError
        details.providerDescription = errorDescription
        details.claims = claims
        let (code, fault) = meaning(grant)
        if code == .protectionRequired {
            details.accountToProtect = refusedAccount
            details.account = details.accountToProtect?.id
        }
        return SignInError(
            code, fault, "the identity provider refused with \(OAuthFailure.printable(error))",
            // What is wrong with a proof of this library's is its time.
            hint: error == "invalid_dpop_proof" ? SignInError.clockHint : nil, details: details)
    }

    private var refusedAccount: ManagedAccount? {
        guard let data = clientInfo.flatMap({ Base64URL.decode($0) }),
            let info = try? JSONDecoder().decode(ClientInfo.self, from: data), !info.uid.isEmpty, !info.utid.isEmpty
        else { return nil }
        let name = userName.flatMap { $0.isEmpty ? nil : $0 } ?? info.uid
        return ManagedAccount(id: AccountID(info.uid), tenant: TenantID(info.utid), userPrincipalName: name)
    }

    private func meaning(_ grant: Grant) -> (SignInError.Code, SignInFault) {
        switch (error, subError) {
        case (_, "protection_policy_required"): (.protectionRequired, .protectionPolicyRequired)
        case (_, "device_registration_required"): (.deviceNotJoined, .deviceRegistrationRequired)
        case (_, "password_reset_required"): (.server, .passwordResetRequired)
        case ("invalid_grant", _) where grant == .refresh: (.interactionRequired, .invalidGrant)
        case ("invalid_grant", _): (.server, .invalidGrant)
        case ("invalid_scope", _) where grant == .refresh, ("invalid_target", _) where grant == .refresh:
            (.interactionRequired, .invalidScope)
        case ("interaction_required", _), ("login_required", _), ("account_selection_required", _),
            ("mfa_required", _):
            (.interactionRequired, .authorizationFailed)
        case ("consent_required", _): (.interactionRequired, .consentRequired)
        case ("access_denied", _): (.cancelled, .accessDenied)
        case ("expired_token", _): (.interactionRequired, .timedOut)
        case ("temporarily_unavailable", _), ("slow_down", _): (.serverBusy, .overloaded)
        case ("invalid_client", _): (.configuration, .invalidClient)
        case ("unauthorized_client", _), ("unsupported_grant_type", _): (.configuration, .unauthorizedClient)
        case ("invalid_scope", _), ("invalid_target", _): (.configuration, .invalidScope)
        case ("invalid_request", _): (.server, .invalidRequest)
        default: (.server, .unhandledError)
        }
    }

    /// A provider's code without anything that could break a log line.
    static func printable(_ text: String) -> String {
        String(text.prefix(64).filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") })
    }

    /// The pause an answer asks for, at most an hour (SI-121).
    private static func pause(_ answer: HTTPAnswer) -> Duration? {
        guard let text = answer.head.headerFields[.retryAfter], let seconds = Int(text), seconds >= 0 else {
            return nil
        }
        return .seconds(min(seconds, 3_600))
    }
}

extension OAuthFailure {
    /// What stands beside the code only helps: of another kind than text, it is as good as absent.
    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) -> String? { try? members.decode(String.self, forKey: key) }
        error = try members.decode(String.self, forKey: .error)
        errorDescription = text(.errorDescription)
        subError = text(.subError)
        claims = text(.claims)
        clientInfo = text(.clientInfo)
        userName = text(.userName)
    }
}
