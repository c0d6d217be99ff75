public import CordonProtocol
import Foundation

extension IdentityProviderConfiguration {
    /// Checks clients, resources, lifetimes and limits.
    ///
    /// - Throws: ``ProgramError`` with code `configurationInvalid`; its place names the first bad value.
    public func validate() throws(ProgramError) {
        try Self.unique(clients.map(\.id), at: "clients")
        try Self.unique(resources.flatMap { [$0.identifier] + $0.aliases }, at: "resources")
        for resource in resources {
            try Self.check(
                ([resource.identifier] + resource.aliases).allSatisfy(Self.isAbsoluteURI),
                at: "resources[\(resource.identifier)]", "must be an absolute URI without fragment (RFC 8707)",
                "use the address of the service, or a URN")
        }
        for client in clients { try validate(client) }
        let access = lifetimes.accessToken
        try Self.check(
            access >= .seconds(1) && access <= .seconds(900), at: "lifetimes.accessToken",
            "must be from 1 second to 15 minutes (SRV-CI-078)", "leave it at its default")
        let others = [
            lifetimes.idToken, lifetimes.authorizationCode, lifetimes.refreshToken, lifetimes.refreshFamily,
            lifetimes.deviceCode, lifetimes.devicePollInterval, lifetimes.session, lifetimes.page, lifetimes.proof,
            passwordAttemptWindow,
        ]
        try Self.check(
            others.allSatisfy { $0 >= .seconds(1) }, at: "lifetimes", "a lifetime is shorter than a second",
            "leave the lifetimes at their defaults")
        try Self.check(
            passwordAttempts > 0 && capacity >= 10, at: "passwordAttempts, capacity", "a limit is too small",
            "leave the limits at their defaults")
    }

    private func validate(_ client: IdentityProviderClient) throws(ProgramError) {
        let place = "clients[\(client.id)]"
        try Self.check(
            !client.id.isEmpty && client.id.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") },
            at: place, "the id must be printable ASCII without spaces and colons", "use a short word")
        for uri in client.redirectURIs + client.postLogoutRedirectURIs {
            try Self.check(
                ProviderRedirect.mayBeRegistered(uri), at: "\(place).redirectURIs", "\(uri) cannot be registered",
                "use https, http on a loopback address, or a scheme with a dot, and no fragment (RFC 8252)")
        }
        try Self.check(
            client.resources.allSatisfy { resource($0) != nil }, at: "\(place).resources",
            "names a resource that is not configured", "name the identifier of one of the resources")
        try Self.check(
            client.isConfidential || !client.grants.contains(.clientCredentials), at: "\(place).grants",
            "a public client cannot use client credentials", "give it a secret or a key, or remove the grant")
    }

    private static func unique(_ names: [String], at place: String) throws(ProgramError) {
        try check(
            Set(names).count == names.count, at: place, "the same name is used twice", "give each a name of its own")
    }

    private static func isAbsoluteURI(_ text: String) -> Bool {
        guard let components = URLComponents(string: text), let scheme = components.scheme else { return false }
        return !scheme.isEmpty && components.fragment == nil && text.utf8.count <= 512 && !text.contains("#")
    }

    private static func check(
        _ condition: Bool, at place: String, _ reason: String, _ hint: String
    ) throws(ProgramError) {
        guard condition else {
            throw ProgramError(.configurationInvalid, reason: reason, place: place, hint: hint)
        }
    }
}
