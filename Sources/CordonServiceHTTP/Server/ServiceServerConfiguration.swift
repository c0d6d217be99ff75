internal import CordonBase
public import CordonIdentity
public import CordonProtocol
public import CordonService
public import Foundation
internal import Logging

/// How a server is reached and whose tokens it accepts.
public struct ServiceServerConfiguration: Sendable, Equatable {
    /// The audience of check-in tokens where the configuration names none.
    public static let usualCheckInAudience = "api://cordon/check-in"
    /// The audience of administration tokens where the configuration names none.
    public static let usualAdministrationAudience = "api://cordon/administration"
    /// The name under which public clients of the Graph API ask for tokens (SRV-OP-016).
    public static let graphAudience = "https://graph.microsoft.com"

    /// The address or name to listen on, IPv6 without brackets.
    public var host = "127.0.0.1"
    /// The port to listen on; 0 lets the system choose.
    public var port = 0
    /// The address that clients use, when a proxy stands in front; nil for the one that was bound.
    public var publicURL: URL?
    /// The origin of a console whose pages may read the administration routes, such as `https://console.example.org`;
    /// nil for none (SRV-OP-015).
    public var consoleOrigin: String?
    /// Whether every request comes through a proxy that sets `X-Forwarded-Proto`; it counts for links alone, and only
    /// where there is no ``publicURL``.
    public var isBehindProxy = false
    /// The certificate to serve HTTPS with, nil to serve HTTP, which is for loopback and behind a proxy only.
    public var certificate: CertificateFiles?
    /// Where Prometheus metrics and the health routes also answer, nil for nowhere; never in public.
    public var metrics: ListeningAddress?
    /// How long a connection may be silent in the middle of a request, or without any.
    public var idleTimeout = Duration.seconds(60)
    /// The most connections that are open at once, event streams included; one more is closed as soon as it is made. Fewer
    /// where the process may not open so many files.
    public var maximumConnections = 10_000
    /// The most connections of one address on which no request was let in yet; of IPv6, of one network of 64 bits. This machine's own
    /// address, and every one where ``isBehindProxy``, may have as many as there are.
    public var unknownConnectionsOfAddress = 256
    /// How long the body of a request may take.
    public var bodyTimeout = Duration.seconds(300)
    /// How long requests that are under way when the service is asked to end may take to end by themselves. Below the time after which a
    /// service manager kills a process, so that no client can keep the service from ending in order.
    public var drainTimeout = Duration.seconds(20)
    /// The organisation.
    public var tenant: TenantID
    /// The issuers of outside providers; unused with the embedded provider. The people of the first one check in, and only
    /// its ids and names are plain: those of the others begin with a mark made of their issuer.
    public var issuers: [String] = []
    /// How the tokens of issuers look that do not follow the standards to the letter, by issuer.
    public var issuerProfiles: [String: IssuerProfile] = [:]
    /// The audience of check-in tokens.
    public var checkInAudience = usualCheckInAudience
    /// The audiences of administration tokens.
    public var administrationAudiences: Set<String> = [usualAdministrationAudience, graphAudience]
    /// The longest life of a check-in token, in seconds; nil for any. Two hours, because providers commonly give an hour or
    /// an hour and a half (SRV-CI-078).
    public var longestCheckInToken: Int? = 7_200
    /// The roles that people and programs have besides those that their tokens name: by a value of `groups` or `roles`,
    /// or by `user:` and an object id (SRV-OP-020).
    public var roleMapping: [String: Set<AdministratorRole>] = [:]
    /// How long ago, in seconds, a person may have signed in who asks for a wipe or for erasing a person's data; nil
    /// where that does not matter, as with a provider that does not say `auth_time` (SRV-OP-021, RFC 9470).
    public var stepUpAge: Int? = 900
    /// The apps that show by App Attest that they are themselves; nil for none (SRV-CI-082).
    public var appAttest: AppAttestSettings?
    /// How often an app and a person may ask.
    public var limits = CheckInLimits.documented
    /// How often an idle event stream is kept alive.
    public var heartbeat = Duration.seconds(15)

    /// The audience under which clients of the embedded provider administer.
    package var mainAdministrationAudience: String {
        let usual = Self.usualAdministrationAudience
        return administrationAudiences.contains(usual) ? usual : administrationAudiences.min() ?? usual
    }

    /// Makes a configuration for loopback and a port that the system chooses.
    public init(tenant: TenantID) {
        self.tenant = tenant
    }

    /// Checks what can be checked before anything is bound.
    ///
    /// - Throws: ``ProgramError`` with code `configurationInvalid`.
    public func validate() throws(ProgramError) {
        if let publicURL {
            let host = publicURL.host(percentEncoded: false) ?? ""
            guard publicURL.scheme == "https" || (publicURL.scheme == "http" && Loopback.includes(host)),
                publicURL.query == nil, publicURL.fragment == nil, publicURL.user == nil
            else {
                throw ProgramError(
                    .configurationInvalid, reason: "the public URL must be https, without query or fragment",
                    place: "public-url", hint: "give the address that clients use, such as https://mam.example.org")
            }
        }
        guard certificate != nil || isBehindProxy || publicURL?.scheme == "https" || Loopback.includes(host)
        else {
            throw ProgramError(
                .configurationInvalid, reason: "without TLS or a proxy, tokens would cross the network in the clear",
                place: "listen",
                hint: "listen on 127.0.0.1, give a certificate, or say which address or proxy stands in front")
        }
        guard (1...1_000_000).contains(maximumConnections) else {
            throw ProgramError(
                .configurationInvalid, reason: "no service has \(maximumConnections) connections",
                place: "max-connections", hint: "use 1 to 1000000; one event stream is one connection")
        }
        if let consoleOrigin {
            let url = URL(string: consoleOrigin)
            let host = url?.host(percentEncoded: false) ?? ""
            guard let url, !host.isEmpty, url.path.isEmpty, url.query == nil, url.user == nil,
                url.scheme == "https" || (url.scheme == "http" && Loopback.includes(host))
            else {
                throw ProgramError(
                    .configurationInvalid, reason: "the console's origin must be https and no more than an origin",
                    place: "console-origin", hint: "give it as browsers send it, such as https://console.example.org")
            }
        }
        guard (0...65_535).contains(port), !tenant.rawValue.isEmpty else {
            throw ProgramError(
                .configurationInvalid, reason: "the port or the tenant is out of range", place: "listen",
                hint: "use a port from 0 to 65535 and name the tenant")
        }
        guard !administrationAudiences.contains(checkInAudience), !administrationAudiences.isEmpty else {
            throw Self.sharedAudience("audiences")
        }
        try appAttest?.validate()
        for issuer in issuers { try validate(profile(of: issuer), of: issuer) }
    }

    /// Loads the certificate, where there is one.
    ///
    /// - Throws: ``ProgramError`` with code `configurationInvalid`.
    package func checkCertificate() throws(ProgramError) {
        guard let certificate else { return }
        _ = try ServerCertificate(certificate, logger: Logger(label: "cordon"), now: { Date() })
    }

    /// Which tokens are accepted, by these issuers.
    package func tokenRules(of issuers: [String]) -> TokenRules {
        TokenRules(
            issuers: issuers.map { .init(issuer: $0, tenant: tenant, profile: profile(of: $0)) },
            checkInAudience: checkInAudience, administrationAudiences: administrationAudiences,
            longestCheckInToken: longestCheckInToken)
    }

    /// How the tokens of an issuer look.
    func profile(of issuer: String) -> IssuerProfile { issuerProfiles[issuer] ?? IssuerProfile() }

    private func validate(_ profile: IssuerProfile, of issuer: String) throws(ProgramError) {
        if let flaw = profile.flaw {
            throw ProgramError(
                .configurationInvalid, reason: "the tokens of an issuer cannot be told: \(flaw)",
                place: "issuers \(issuer)", hint: "compare with docs/providers.md")
        }
        // Whose keys a token is verified with depends on the name in it.
        if let name = profile.tokenIssuer,
            issuers.contains(where: { $0 != issuer && ($0 == name || self.profile(of: $0).tokenIssuer == name) })
        {
            throw ProgramError(
                .configurationInvalid, reason: "the access tokens of two issuers would name one",
                place: "issuers \(issuer)",
                hint: "compare tokenIssuer with access_token_issuer of the provider's discovery document")
        }
        let audiences = profile.administrationAudiences ?? administrationAudiences
        guard !audiences.contains(profile.checkInAudience ?? checkInAudience) else {
            throw Self.sharedAudience("issuers \(issuer)")
        }
    }

    private static func sharedAudience(_ place: String) -> ProgramError {
        ProgramError(
            .configurationInvalid, reason: "check-in and administration must not share an audience", place: place,
            hint: "give each side an audience of its own")
    }
}
