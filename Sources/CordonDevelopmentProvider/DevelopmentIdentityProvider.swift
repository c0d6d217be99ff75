internal import CordonBase
public import CordonProtocol
public import Foundation
public import Logging

/// A small OpenID provider for development and demos. **Not for production**: it keeps sessions and tokens in memory,
/// signs people of a JSON file in with a password alone, and is meant for loopback addresses only. It follows the
/// standards all the same, because any real OpenID provider must be able to take its place.
///
/// Authorization code with PKCE (RFC 6749, 7636), pushed requests (RFC 9126), device authorization (RFC 8628), refresh tokens with rotation and
/// reuse detection (RFC 9700), client credentials, resource indicators (RFC 8707), DPoP (RFC 9449), access tokens of
/// RFC 9068, issuer identification (RFC 9207), revocation (RFC 7009), userinfo and end session.
///
/// It knows nothing of servers: ``answer(_:body:)`` takes a request and gives the answer, and ``routes`` says
/// which requests it takes. All its tables are bounded and their entries end. On a restart people sign in again; with
/// a key file, access tokens given out stay verifiable.
public actor DevelopmentIdentityProvider {
    typealias SignedIn = (session: ProviderSession, person: DevelopmentDirectory.Person)

    let environment: ProviderEnvironment
    let issuing: TokenIssuer
    let pages: PageAnswers
    /// The issuer of every token, empty until ``answer(at:)`` says where the provider answers.
    private(set) var issuer: String

    var people: ProviderPeople
    var clients: ClientAuthentication
    var proofs: ProofChecker
    var browsers: BrowserSessions
    var pushedRequests: PushedRequests
    var grants: GrantStore
    var devices: DeviceAuthorizations

    /// Makes a provider.
    ///
    /// - Parameters:
    ///   - directory: who can sign in; validated here.
    ///   - configuration: clients, resources, lifetimes and limits; validated here.
    ///   - issuer: the issuer, whose path must be `/idp`; nil when ``answer(at:)`` will tell, because a port may be known
    ///     only after it is bound.
    ///   - signingKey: where the ES256 key is kept.
    ///   - logger: gets one line for each sign-in, refusal and revocation, never a secret or what a person typed.
    ///   - clock: the time.
    ///   - random: gives that many random bytes; the default is the system's generator.
    /// - Throws: ``ProgramError`` when the directory, the configuration or the key file is unusable.
    public init(
        directory: DevelopmentDirectory, configuration: IdentityProviderConfiguration, issuer: URL? = nil,
        signingKey: IdentityProviderKeyStorage = .inMemory,
        logger: Logger = Logger(label: "cordon.identity-provider"),
        clock: @escaping @Sendable () -> Date = { Date() },
        random: @escaping @Sendable (_ count: Int) -> [UInt8] = DevelopmentIdentityProvider.systemRandom
    ) throws(ProgramError) {
        try configuration.validate()
        people = try ProviderPeople(directory, configuration: configuration)
        let environment = ProviderEnvironment(
            configuration: configuration, clock: clock, random: random, logger: logger)
        self.environment = environment
        self.issuer = issuer?.absoluteString ?? ""
        issuing = TokenIssuer(key: try ProviderSigningKey(signingKey), environment: environment)
        pages = PageAnswers(pages: try ProviderPages(), environment: environment)
        clients = ClientAuthentication(environment)
        proofs = ProofChecker(environment)
        browsers = BrowserSessions(environment)
        pushedRequests = PushedRequests(environment)
        grants = GrantStore(environment)
        devices = DeviceAuthorizations(environment)
    }

    /// The system's random generator.
    public static let systemRandom: @Sendable (_ count: Int) -> [UInt8] = { count in
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in generator.next() }
    }

    /// Refuses an address that other machines could reach: this provider is for development on one machine.
    ///
    /// - Parameter host: an address or name as given to `--listen`, IPv6 with or without brackets.
    /// - Throws: ``ProgramError`` with code `notLoopback`.
    public static func refuseUnlessLoopback(host: String) throws(ProgramError) {
        guard Loopback.includes(host) else {
            throw ProgramError(
                .notLoopback,
                reason: "the embedded identity provider is for development and must not be reachable "
                    + "from other machines", place: host,
                hint: "listen on 127.0.0.1, or configure an OpenID provider of your own")
        }
    }

    /// Says where the provider answers from now on.
    ///
    /// - Parameter issuer: the issuer, whose path must be `/idp`.
    public func answer(at issuer: URL) { self.issuer = issuer.absoluteString }

    /// The key set that verifies tokens of this provider (RFC 7517), for a service in the same process.
    public nonisolated var keySet: Data { ProviderAnswer.json(issuing.key.published).body }

    /// The directory in force.
    public var directory: DevelopmentDirectory { people.directory }

    /// Puts another directory in force at once. Sessions and grants of people who are gone or disabled end for good.
    ///
    /// - Throws: ``ProgramError`` with code `directoryInvalid`; the old directory then stays.
    public func replaceDirectory(_ directory: DevelopmentDirectory) throws(ProgramError) {
        for id in try people.replace(with: directory) { revokeGrants(ofPerson: id) }
    }

    /// Ends every grant and session of a person, for unenrolment, a block or a finished wipe (SRV-CI-081).
    ///
    /// - Parameters:
    ///   - id: the object id; an unknown one ends nothing.
    ///   - clientID: only grants of this client, sessions stay; nil means all of them and the sessions too.
    /// - Returns: how many refresh chains ended.
    @discardableResult
    public func revokeGrants(ofPerson id: String, clientID: String? = nil) -> Int {
        func concerns(_ grant: ProviderGrant) -> Bool {
            grant.personID == id && (clientID == nil || grant.clientID == clientID)
        }
        let ended = grants.revokeAll(where: concerns)
        devices.removeAll(where: concerns)
        if clientID == nil { browsers.endSessions(ofPerson: id) }
        environment.logger.info("grants revoked", metadata: ["person": "\(id)", "chains": "\(ended)"])
        return ended
    }

    /// The session of a request's browser, if its person may still sign in.
    func session(of request: ProviderRequest) -> SignedIn? {
        guard let session = browsers.session(of: request), let person = people.enabled(session.personID) else {
            return nil
        }
        return (session, person)
    }
}
