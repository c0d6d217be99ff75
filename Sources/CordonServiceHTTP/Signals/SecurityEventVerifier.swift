import CordonPolicy
import CordonService
import CordonSignatures
import Foundation
import HTTPTypes

/// Why a security event token was refused, in the words of RFC 8935 §2.4.
enum SecurityEventProblem: String {
    case malformed = "invalid_request"
    case unknownKey = "invalid_key"
    case untrustedIssuer = "invalid_issuer"
    case wrongAudience = "invalid_audience"
    case unavailable = "temporarily_unavailable"

    /// The refusal. Nothing but a status of 5xx makes a transmitter try again.
    func refusal(_ reason: String) -> Refusal {
        Refusal(self == .unavailable ? .serviceUnavailable : .badRequest, rawValue, reason)
    }

    /// What an error of taking a token is to who sent it.
    static func refusal(of error: any Error) -> Refusal {
        if let refusal = error as? Refusal { return refusal }
        if let error = error as? ServiceError, error.code == .invalid { return malformed.refusal(error.reason) }
        return unavailable.refusal("the service cannot do its work at the moment")
    }
}

/// Verifies security event tokens of the trusted providers (RFC 8417) and reads from them what concerns accounts.
struct SecurityEventVerifier: Sendable {
    /// Where operators learn why a token was refused.
    let refusals: TokenRefusalLog
    private let rules: TokenRules
    private let base: String
    private let keys: IssuerKeys
    private let now: @Sendable () -> Date

    /// The events that mean something here (CAEP and RISC); others are accepted and change nothing.
    private static let kinds: [String: AccountSignal.Kind] = [
        "https://schemas.openid.net/secevent/caep/event-type/session-revoked": .sessionsRevoked,
        "https://schemas.openid.net/secevent/risc/event-type/sessions-revoked": .sessionsRevoked,
        "https://schemas.openid.net/secevent/risc/event-type/account-disabled": .accountDisabled,
        "https://schemas.openid.net/secevent/risc/event-type/account-purged": .accountDisabled,
        "https://schemas.openid.net/secevent/risc/event-type/account-enabled": .accountEnabled,
    ]

    init(
        rules: TokenRules, base: String, documents: any IssuerDocuments, refusals: TokenRefusalLog,
        now: @escaping @Sendable () -> Date
    ) {
        self.rules = rules
        self.refusals = refusals
        self.base = base
        self.keys = IssuerKeys(documents: documents, refusals: refusals, now: now)
        self.now = now
    }

    /// What a token says of accounts; who says it is a trusted provider.
    ///
    /// - Parameter sender: The only provider whose token it may be; nil for any trusted one.
    func signals(in text: String, from sender: String?) async throws -> (issuer: String, signals: [AccountSignal]) {
        let signed: SignedText
        do {
            signed = try SignedText(text, .securityEvent)
        } catch {
            throw SecurityEventProblem.malformed.refusal(TokenRefusal(error, .securityEvent).reason)
        }
        guard let claims = try? JSONValue(parsing: signed.payload), let issuer = claims["iss"]?.string else {
            throw SecurityEventProblem.malformed.refusal("the token's claims are not readable")
        }
        guard let trusted = rules.issuers.first(where: { $0.issuer == issuer }) else {
            throw SecurityEventProblem.untrustedIssuer.refusal("the token's issuer is not on the allow-list")
        }
        // Before its keys are fetched: one that is down would hold the other's stream up.
        guard sender ?? issuer == issuer else {
            throw SecurityEventProblem.untrustedIssuer.refusal(
                "the token is not of the provider whose stream it came in")
        }
        try await checkSignature(of: signed, by: issuer)
        let named = claims["aud"]?.array?.compactMap(\.string) ?? [claims["aud"]?.string ?? ""]
        let audiences = rules.administrationAudiences(of: trusted).union([rules.checkInAudience(of: trusted), base])
        guard !audiences.isDisjoint(with: named) else {
            throw SecurityEventProblem.wrongAudience.refusal("the token was made for another service")
        }
        guard let issued = Self.time(claims["iat"]), issued <= now().addingTimeInterval(TokenRules.clockTolerance),
            claims["jti"]?.string?.isEmpty == false, let events = claims["events"]?.object
        else {
            throw SecurityEventProblem.malformed.refusal("iat, jti or events is missing or of the future")
        }
        var signals: [AccountSignal] = []
        for (type, event) in events.sorted(by: { $0.key < $1.key }) {
            guard let kind = Self.kinds[type] else { continue }
            let identifier = claims["sub_id"] ?? event["subject"]
            guard let subject = Self.subject(identifier, claims, issuer, mark: rules.mark(of: trusted)) else {
                throw SecurityEventProblem.malformed.refusal("the event names no account of the token's issuer")
            }
            // Said by the event, else that of the transaction, else of the token; never later than the token.
            let said = Self.time(event["event_timestamp"]) ?? Self.time(claims["toe"]) ?? issued
            signals.append(AccountSignal(kind, of: subject, at: min(said, issued)))
        }
        return (issuer, signals)
    }

    private func checkSignature(of text: SignedText, by issuer: String) async throws {
        do {
            try await keys.check(text, by: issuer)
        } catch {
            let problem: SecurityEventProblem = error.code == .issuerUnavailable ? .unavailable : .unknownKey
            throw problem.refusal(error.reason)
        }
    }

    /// The account of a subject identifier (RFC 9493), or of the older form without `format`.
    ///
    /// A provider speaks of its own people only. The directory's sign-in names are those of the first provider's people, so
    /// another one cannot name any person by them.
    private static func subject(
        _ identifier: JSONValue?, _ claims: JSONValue, _ issuer: String, mark: String
    ) -> String? {
        guard let identifier else { return marked(claims["sub"]?.string, mark) }
        if let user = identifier["user"] { return subject(user, claims, issuer, mark: mark) }
        switch identifier["format"]?.string ?? identifier["subject_type"]?.string {
        case "iss_sub", "iss-sub":
            return identifier["iss"]?.string == issuer ? marked(identifier["sub"]?.string, mark) : nil
        case "opaque": return marked(identifier["id"]?.string, mark)
        case "email" where mark.isEmpty: return marked(identifier["email"]?.string, mark)
        case "account" where mark.isEmpty:
            let uri = identifier["uri"]?.string
            return marked(uri.flatMap { $0.hasPrefix("acct:") ? String($0.dropFirst(5)) : nil }, mark)
        default: return nil
        }
    }

    /// An id as this service keeps it; nil where it looks like one of another provider's people.
    private static func marked(_ id: String?, _ mark: String) -> String? {
        id.flatMap { IssuerMark.begins($0) ? nil : mark + $0 }
    }

    private static func time(_ value: JSONValue?) -> Date? {
        value?.numericDate.map { Date(timeIntervalSince1970: $0) }
    }
}
