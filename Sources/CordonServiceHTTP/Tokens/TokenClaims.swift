import CordonPolicy
import Foundation

/// The claims of an access token as they travel (RFC 9068 §2.2), in the spelling of their provider.
struct TokenClaims {
    let issuer: String
    let audiences: [String]
    let expires: Double
    let notBefore: Double?
    let subject: String?
    /// The person's id by the provider's claim, else the subject.
    let id: String?
    let tenant: String?
    let userPrincipalName: String?
    let clientID: String?
    let scopes: Set<String>
    let roles: Set<String>
    let groups: Set<String>
    /// Whether the claims say that there are groups, and do not tell them.
    let lacksGroups: Bool
    let issued: Double?
    let keyThumbprint: String?
    let authenticated: Double?
    /// Whether a program acts for itself.
    let isOfApplication: Bool
    private let reader: Reader
    /// The claims that only access tokens of the provider have.
    private let accessTokenClaims: [String]

    /// The names of all claims that are there.
    var names: [String] { reader.members.keys.sorted() }
    /// Whether a claim shows that this is an access token, as no ID token has it.
    var isMarkedAccessToken: Bool { accessTokenClaims.contains(where: reader.has) }
    /// Whether a claim shows that this is an ID token.
    var isMarkedIDToken: Bool { IssuerProfile.idTokenClaims.contains(where: reader.has) }

    /// Reads claims as a provider writes them.
    ///
    /// - Throws: ``TokenRefusal`` when one that is needed is absent, or one is of the wrong kind.
    init(_ claims: JSONValue, _ profile: IssuerProfile) throws(TokenRefusal) {
        let reader = Reader(claims: claims, members: claims.object ?? [:])
        guard let issuer = try reader.text("iss"), let expires = try reader.number("exp") else {
            throw TokenRefusal(.malformed, "the token lacks the claim iss or exp")
        }
        self.issuer = issuer
        self.expires = expires
        audiences = try reader.words(firstOf: profile.audienceClaims)
        notBefore = try reader.number("nbf")
        issued = try reader.number("iat")
        authenticated = try reader.moment(profile.signedInClaim)
        subject = try reader.text("sub")
        tenant = try profile.tenantClaim.flatMap { name throws(TokenRefusal) in try reader.text(name) }
        userPrincipalName = try reader.text(firstOf: profile.nameClaims)
        clientID = try reader.text(firstOf: ["client_id", "azp", "appid", "cid"])
        scopes = profile.scopes(try reader.words(ofAll: profile.scopeClaims, .spaced))
        roles = try Set(reader.words(ofAll: profile.roleClaims, .named))
        groups = try Set(reader.words(ofAll: profile.groupClaims, .named))
        // Distributed claims (OpenID Connect Core §5.6.2), which Entra ID writes for a person with many groups.
        lacksGroups = groups.isEmpty && reader.tellsOfGroups(profile)
        keyThumbprint = try reader.confirmation()
        isOfApplication = try reader.isOfApplication(
            profile, isSubject: subject != nil && subject == clientID && authenticated == nil)
        let id = try reader.text(firstOf: profile.idClaims)
        self.id = isOfApplication ? id ?? subject : id
        self.reader = reader
        accessTokenClaims = profile.accessTokenClaims
    }

    /// The refusal of a claim that is of another kind than it has to be.
    private static func wrongKind(_ name: String) -> TokenRefusal {
        TokenRefusal(.malformed, "the token's claim \(name) is of the wrong kind")
    }

    /// Looks claims up by name, or by JSON pointer (RFC 6901) where a name begins with a slash.
    private struct Reader {
        let claims: JSONValue
        let members: [String: JSONValue]

        func value(_ name: String) -> JSONValue? {
            let found: JSONValue? =
                if name.utf8.first == UInt8(ascii: "/") {
                    name.split(separator: "/").reduce(Optional(claims)) { value, part in
                        value?[String(part).replacing("~1", with: "/").replacing("~0", with: "~")]
                    }
                } else {
                    members[name]
                }
            if case .null? = found { return nil }
            return found
        }

        /// Whether the claims say that there are groups elsewhere.
        func tellsOfGroups(_ profile: IssuerProfile) -> Bool {
            if value("hasgroups")?.bool == true { return true }
            guard let elsewhere = value("_claim_names") else { return false }
            return profile.groupClaims.contains { elsewhere[$0] != nil }
        }

        func has(_ name: String) -> Bool { value(name) != nil }

        func text(_ name: String) throws(TokenRefusal) -> String? {
            guard let value = value(name) else { return nil }
            guard let text = value.string else { throw wrongKind(name) }
            return text
        }

        func text(firstOf names: [String]) throws(TokenRefusal) -> String? {
            for name in names {
                if let text = try text(name) { return text }
            }
            return nil
        }

        func number(_ name: String) throws(TokenRefusal) -> Double? {
            guard let value = value(name) else { return nil }
            guard let number = value.numericDate else { throw wrongKind(name) }
            return number
        }

        /// A moment in seconds since 1970, or as some providers write it, in words.
        func moment(_ name: String) throws(TokenRefusal) -> Double? {
            guard case .string(let text)? = value(name) else { return try number(name) }
            let styles = [true, false].map { Date.ISO8601FormatStyle(includingFractionalSeconds: $0) }
            guard text.utf8.count <= 40, let moment = styles.lazy.compactMap({ try? Date(text, strategy: $0) }).first
            else { throw wrongKind(name) }
            return moment.timeIntervalSince1970
        }

        /// How words stand in a claim, beside a list of texts.
        enum Form {
            /// One text is one word.
            case single
            /// One text has several words.
            case spaced
            /// One text is one word, and the names of an object are words.
            case named
        }

        /// The words of a claim; none where it is absent.
        func words(_ name: String, _ form: Form) throws(TokenRefusal) -> [String] {
            switch value(name) {
            case nil: return []
            case .string(let text)?:
                guard form == .spaced, text.isEmpty || text.utf8.contains(UInt8(ascii: " ")) else { return [text] }
                return text.utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
            case .array(let list)?:
                let words = list.compactMap(\.string)
                guard words.count == list.count else { throw wrongKind(name) }
                return words
            case .object(let members)? where form == .named: return Array(members.keys)
            default: throw wrongKind(name)
            }
        }

        func words(ofAll names: [String], _ form: Form) throws(TokenRefusal) -> [String] {
            var all: [String] = []
            for name in names { all += try words(name, form) }
            return all
        }

        func words(firstOf names: [String]) throws(TokenRefusal) -> [String] {
            try names.first(where: has).map { name throws(TokenRefusal) in try words(name, .single) } ?? []
        }

        func confirmation() throws(TokenRefusal) -> String? {
            guard let confirmation = value("cnf") else { return nil }
            guard let members = confirmation.object else { throw wrongKind("cnf") }
            switch members["jkt"] {
            case nil, .null?: return nil
            case .string(let thumbprint)?: return thumbprint
            default: throw wrongKind("cnf")
            }
        }

        /// Whether a program acts for itself. Only what the token says counts, never what it leaves out: a person's token needs
        /// neither a name nor a scope (RFC 9068 §2.2), and a program is asked for neither scopes nor a fresh sign-in.
        ///
        /// Either the provider says so, or the token's subject is the client itself (RFC 9068 §2.2) and nothing in it tells of a
        /// person: a provider may let people choose a subject that is a client's id (RFC 9068 §5).
        func isOfApplication(_ profile: IssuerProfile, isSubject: Bool) throws(TokenRefusal) -> Bool {
            switch profile.programs {
            case .none: return false
            case .claim(let name, let wanted): return try text(name) == wanted
            case .standard:
                if let type = try text("idtyp") { return type == "app" }
                guard isSubject else { return false }
                let ofPeople = profile.nameClaims + profile.idClaims + ["preferred_username", "upn"]
                return !ofPeople.contains { $0 != "sub" && $0 != "oid" && has($0) }
            }
        }
    }
}

extension JSONValue {
    /// Seconds since 1970, whole or not (NumericDate, RFC 7519 §2).
    var numericDate: Double? {
        let seconds: Double? =
            switch self {
            case .integer(let whole): Double(whole)
            case .number(let number): number.double
            default: nil
            }
        return seconds.flatMap { $0.isFinite ? $0 : nil }
    }
}
