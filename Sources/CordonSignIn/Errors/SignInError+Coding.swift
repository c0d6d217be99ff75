internal import CordonIdentity
internal import Foundation

/// How an error travels from the broker to an app (SI-145). The provider's own text stays behind, because it may name people.
extension SignInError: Codable {
    private enum Member: String, CodingKey {
        case code, fault, reason, hint, correlationID, oauthError, subError, httpStatus, grantedScopes, declinedScopes
        case claims, account, isThrottled, retryAfter
    }

    /// Writes code, fault, reason, hint and the details that are known; a wait is written in whole seconds.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var error = encoder.container(keyedBy: Member.self)
        try error.encode(code.rawValue, forKey: .code)
        try error.encode(fault.rawValue, forKey: .fault)
        try error.encode(reason, forKey: .reason)
        try error.encode(hint, forKey: .hint)
        try error.encodeIfPresent(details.correlationID, forKey: .correlationID)
        try error.encodeIfPresent(details.oauthError, forKey: .oauthError)
        try error.encodeIfPresent(details.subError, forKey: .subError)
        try error.encodeIfPresent(details.httpStatus, forKey: .httpStatus)
        if !details.grantedScopes.isEmpty { try error.encode(details.grantedScopes, forKey: .grantedScopes) }
        if !details.declinedScopes.isEmpty { try error.encode(details.declinedScopes, forKey: .declinedScopes) }
        try error.encodeIfPresent(details.claims, forKey: .claims)
        try error.encodeIfPresent(details.account, forKey: .account)
        if details.isThrottled { try error.encode(true, forKey: .isThrottled) }
        try error.encodeIfPresent(details.retryAfter?.components.seconds, forKey: .retryAfter)
    }

    /// Reads an error; a code or fault of a newer broker reads as a refusal.
    ///
    /// - Throws: What the decoder throws.
    public init(from decoder: any Decoder) throws {
        let error = try decoder.container(keyedBy: Member.self)
        // Shown to people as it is, also in terminals.
        func text(_ member: Member) throws -> String {
            TerminalText(try error.decode(String.self, forKey: member)).text
        }
        var details = SignInErrorDetails()
        details.correlationID = try error.decodeIfPresent(UUID.self, forKey: .correlationID)
        details.oauthError = try error.decodeIfPresent(String.self, forKey: .oauthError)
        details.subError = try error.decodeIfPresent(String.self, forKey: .subError)
        details.httpStatus = try error.decodeIfPresent(Int.self, forKey: .httpStatus)
        details.grantedScopes = try error.decodeIfPresent([String].self, forKey: .grantedScopes) ?? []
        details.declinedScopes = try error.decodeIfPresent([String].self, forKey: .declinedScopes) ?? []
        details.claims = try error.decodeIfPresent(String.self, forKey: .claims)
        details.account = try error.decodeIfPresent(AccountID.self, forKey: .account)
        details.isThrottled = try error.decodeIfPresent(Bool.self, forKey: .isThrottled) ?? false
        details.retryAfter = try error.decodeIfPresent(Int64.self, forKey: .retryAfter).map { .seconds($0) }
        self.init(
            Code(rawValue: try error.decode(String.self, forKey: .code)) ?? .brokerRefused,
            SignInFault(rawValue: try error.decode(String.self, forKey: .fault)) ?? .brokerDenied,
            try text(.reason), hint: try text(.hint),
            details: details)
    }
}
