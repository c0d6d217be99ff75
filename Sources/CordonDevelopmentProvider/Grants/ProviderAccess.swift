/// Scopes and resources a client asks for, after everything unknown was left out.
struct ProviderAccess: Sendable, Equatable {
    let scopes: [String]
    let resources: [String]

    static let identityScopes: Set<String> = ["openid", "profile", "offline_access"]

    /// Reads `scope` and `resource` (RFC 6749 §3.3, RFC 8707 §2).
    ///
    /// A scope may name its resource in front, as `https://graph.microsoft.com/.default` does; `.default` stands for
    /// everything that exists there. Unknown scopes are left out (SRV-OP-019), unknown resources are refused.
    init(
        _ parameters: ProviderParameters, client: IdentityProviderClient, configuration: IdentityProviderConfiguration
    ) throws(OAuthError) {
        var resources = parameters.all("resource")
        var wanted: [String] = []
        for word in try parameters.words("scope") {
            guard let (name, tail) = Self.split(word, configuration: configuration) else {
                wanted.append(word)
                continue
            }
            if !resources.contains(name) { resources.append(name) }
            wanted += tail == ".default" ? configuration.resource(name)?.scopes ?? [] : [tail]
        }
        var known = Self.identityScopes
        for name in resources {
            guard let resource = configuration.resource(name), client.resources.contains(where: resource.isNamed) else {
                throw OAuthError(.invalidTarget, "this client has no access to the resource it names")
            }
            known.formUnion(resource.scopes)
        }
        var seen: Set<String> = []
        self.resources = resources.filter { seen.insert($0).inserted }
        scopes = wanted.filter { known.contains($0) && seen.insert($0).inserted }
    }

    /// What a person can allow: something for each resource, or `openid` alone.
    func checkedForPerson(_ configuration: IdentityProviderConfiguration) throws(OAuthError) -> ProviderAccess {
        if resources.isEmpty, !scopes.contains("openid") {
            throw OAuthError(.invalidScope, "ask for openid, or name a service in resource and a scope of it")
        }
        for name in resources where tokenScopes(for: name, configuration: configuration).isEmpty {
            throw OAuthError(.invalidScope, "none of the scopes exists at a resource that is asked for")
        }
        return self
    }

    /// The part of the scopes that belongs into a token for this resource.
    func tokenScopes(for name: String, configuration: IdentityProviderConfiguration) -> [String] {
        let known = configuration.resource(name)?.scopes ?? []
        return scopes.filter(known.contains)
    }

    private static func split(
        _ word: String, configuration: IdentityProviderConfiguration
    ) -> (name: String, tail: String)? {
        for name in configuration.resources.flatMap({ [$0.identifier] + $0.aliases }) where word.hasPrefix(name + "/") {
            return (name, String(word.dropFirst(name.count + 1)))
        }
        return nil
    }
}
