package import CordonIdentity
internal import CordonPolicy

/// The values that stand for `{{…}}` tokens in app configurations, for one person (SRV-RS-117).
package struct ConfigurationTokens {
    private static let names: Set<String> = [
        "userprincipalname", "mail", "primarysmtpaddress", "partialupn", "accountid", "userid", "username",
    ]

    private let values: [String: String]

    /// - Parameter tenant: The organisation; nil leaves its token as it is.
    package init(user: DirectoryUser, tenant: TenantID?) {
        let name = user.userPrincipalName
        let mail = user.mail ?? name
        values = [
            "userprincipalname": name, "mail": mail, "primarysmtpaddress": mail,
            "partialupn": String(name.prefix { $0 != "@" }), "userid": user.id,
            "username": user.displayName,
        ].merging(tenant.map { ["accountid": $0.rawValue] } ?? [:]) { $1 }
    }

    /// The text with every known token replaced; an unknown one is left as it is. Replaced text is not looked at again.
    package func replaced(in text: String) -> String {
        Self.replaced(in: text) { values[$0.lowercased()] }
    }

    /// The tokens of a text that stand for nothing.
    static func unknown(in text: String) -> [String] {
        var unknown: [String] = []
        _ = replaced(in: text) { token in
            if !names.contains(token.lowercased()) { unknown.append(token) }
            return nil
        }
        return unknown
    }

    private static func replaced(in text: String, _ value: (String) -> String?) -> String {
        var result = ""
        var rest = text[...]
        while let open = rest.firstRange(of: "{{") {
            result += rest[..<open.lowerBound]
            rest = rest[open.lowerBound...]
            guard let close = rest.firstRange(of: "}}") else { break }
            let token = String(rest[open.upperBound..<close.lowerBound])
            result += value(token) ?? String(rest[..<close.upperBound])
            rest = rest[close.upperBound...]
        }
        return result + rest
    }

    /// The settings of a configuration for an app as one dictionary, named after it (SRV-CI-005).
    func dictionary(of configuration: ManagedAppPolicy, isDefault: Bool) -> JSONValue {
        var members: [String: JSONValue] = [:]
        for pair in configuration.document["customSettings"]?.array ?? [] {
            guard let name = pair["name"]?.string, let value = pair["value"]?.string else { continue }
            members[name] = .string(replaced(in: value))
        }
        members["__source"] = .string(configuration.id)
        if isDefault { members["__IsDefault"] = true }
        return .object(members)
    }

    /// The one dictionary of default values: of several defaults the one with the lower id gives a value (SRV-TG-18).
    func defaultDictionary(of defaults: [ManagedAppPolicy]) -> [JSONValue] {
        let dictionaries = defaults.filter { $0.document["customSettings"]?.array?.isEmpty == false }
            .compactMap { dictionary(of: $0, isDefault: true).object }
        guard let first = dictionaries.first else { return [] }
        return [.object(dictionaries.dropFirst().reduce(first) { $0.merging($1) { lower, _ in lower } })]
    }
}
