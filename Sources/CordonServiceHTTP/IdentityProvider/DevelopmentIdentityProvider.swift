internal import CordonBase
import CordonProtocol
import Crypto
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
/// ``ServiceServer`` puts it on its routes. Everything it knows lives in this actor; all tables are bounded and
/// their entries end. On a restart people sign in again; with a key file, access tokens given out stay verifiable.
public actor DevelopmentIdentityProvider {
    let configuration: IdentityProviderConfiguration
    let clock: @Sendable () -> Date
    let signingKey: ProviderSigningKey
    let nonceKey: SymmetricKey
    let logger: Logger
    let pages: ProviderPages
    private let issuerURL: @Sendable () async -> URL
    private let randomBytes: @Sendable (Int) -> [UInt8]

    var directory: DevelopmentDirectory
    var pushedRequests: ProviderBoundedTable<String, ProviderPushedRequest>
    var interactions: ProviderBoundedTable<String, ProviderInteraction>
    var sessions: ProviderBoundedTable<String, ProviderSession>
    var codes: ProviderBoundedTable<String, ProviderAuthorizationCode>
    var devices: ProviderBoundedTable<String, ProviderDeviceAuthorization>
    var userCodes: ProviderBoundedTable<String, String>
    var families: ProviderBoundedTable<String, ProviderRefreshFamily>
    var revokedGrants: ProviderBoundedTable<String, Bool>
    var revokedTokens: ProviderBoundedTable<String, Bool>
    var seenProofs: ProviderBoundedTable<String, Bool>
    var passwordLimiter: ProviderAttemptLimiter
    var userCodeLimiter: ProviderAttemptLimiter
    /// What an unknown name's password is compared with, so that the time taken does not tell who exists.
    let decoy: DirectoryPassword?

    /// Makes a provider.
    ///
    /// - Parameters:
    ///   - directory: who can sign in; validated here.
    ///   - configuration: clients, resources, lifetimes and limits; validated here.
    ///   - issuer: the issuer, asked for on each request because a port may be known only after it is bound. Its path
    ///     must be `/idp`.
    ///   - signingKey: where the ES256 key is kept.
    ///   - logger: gets one line for each sign-in, refusal and revocation, never a secret or what somebody typed.
    ///   - clock: the time.
    ///   - random: gives that many random bytes; the default is the system's generator.
    /// - Throws: ``IdentityProviderError`` when the directory, the configuration or the key file is unusable.
    public init(
        directory: DevelopmentDirectory, configuration: IdentityProviderConfiguration,
        issuer: @escaping @Sendable () async -> URL, signingKey: IdentityProviderKeyStorage = .inMemory,
        logger: Logger = Logger(label: "cordon.identity-provider"),
        clock: @escaping @Sendable () -> Date = { Date() },
        random: @escaping @Sendable (_ count: Int) -> [UInt8] = DevelopmentIdentityProvider.systemRandom
    ) throws(IdentityProviderError) {
        try directory.validate()
        try configuration.validate()
        self.directory = directory
        self.configuration = configuration
        self.clock = clock
        self.logger = logger
        self.signingKey = try ProviderSigningKey(signingKey)
        pages = try ProviderPages()
        issuerURL = issuer
        randomBytes = random
        nonceKey = SymmetricKey(data: random(32))
        let capacity = configuration.capacity
        pushedRequests = .init(capacity: capacity)
        interactions = .init(capacity: capacity)
        sessions = .init(capacity: capacity)
        codes = .init(capacity: capacity)
        devices = .init(capacity: capacity)
        userCodes = .init(capacity: capacity)
        families = .init(capacity: capacity)
        revokedGrants = .init(capacity: capacity)
        revokedTokens = .init(capacity: capacity)
        seenProofs = .init(capacity: capacity)
        let window = Self.seconds(configuration.passwordAttemptWindow)
        passwordLimiter = .init(
            perKey: configuration.passwordAttempts, total: configuration.passwordAttempts * 10, window: window,
            capacity: capacity)
        userCodeLimiter = .init(perKey: 30, total: 30, window: window, capacity: capacity)
        decoy = try directory.people.first.map { person throws(IdentityProviderError) in
            try DirectoryPassword("nobody", parameters: person.password.parameters)
        }
    }

    /// The system's random generator.
    public static let systemRandom: @Sendable (_ count: Int) -> [UInt8] = { count in
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in generator.next() }
    }

    /// Refuses an address that other machines could reach: this provider is for development on one machine.
    ///
    /// - Parameter host: an address or name as given to `--listen`, IPv6 with or without brackets.
    /// - Throws: ``IdentityProviderError`` with code `notLoopback`.
    public static func refuseUnlessLoopback(host: String) throws(IdentityProviderError) {
        guard ProviderHost.isLoopback(host) else {
            throw IdentityProviderError(
                .notLoopback,
                reason: "the embedded identity provider is for development and must not be reachable "
                    + "from other machines", place: host,
                hint: "listen on 127.0.0.1, or configure an OpenID provider of your own")
        }
    }

    /// The key set that verifies tokens of this provider (RFC 7517), for a service in the same process.
    public nonisolated var keySet: Data {
        (try? ProviderJSON.encode(ProviderKeySet(keys: [signingKey.published]))) ?? Data()
    }

    /// Puts another directory in force at once. Sessions and grants of people who are gone or disabled end for good.
    ///
    /// - Throws: ``IdentityProviderError`` with code `directoryInvalid`; the old directory then stays.
    public func replaceDirectory(_ directory: DevelopmentDirectory) throws(IdentityProviderError) {
        try directory.validate()
        let before = self.directory.people
        self.directory = directory
        for person in before where enabledPerson(person.id) == nil { revokeGrants(ofPerson: person.id) }
    }

    /// The directory in force.
    public func currentDirectory() -> DevelopmentDirectory { directory }

    func issuer() async -> String { await issuerURL().absoluteString }

    func randomText(_ count: Int = 32) -> String { Base64URL.encode(Data(randomBytes(count))) }

    func random(_ count: Int) -> [UInt8] { randomBytes(count) }

    func seconds(_ lifetime: KeyPath<IdentityProviderConfiguration.Lifetimes, Duration>) -> TimeInterval {
        Self.seconds(configuration.lifetimes[keyPath: lifetime])
    }

    static func seconds(_ duration: Duration) -> TimeInterval {
        TimeInterval(duration.components.seconds) + TimeInterval(duration.components.attoseconds) * 1e-18
    }

    /// Secrets are kept and looked up by their digest alone.
    static func digest(_ secret: String) -> String {
        Base64URL.encode(Data(SHA256.hash(data: Data(secret.utf8))))
    }

    /// Someone who may hold tokens right now.
    func enabledPerson(_ id: String) -> DevelopmentDirectory.Person? {
        directory.person(id: id).flatMap { $0.accountEnabled ? $0 : nil }
    }
}

struct ProviderKeySet: Encodable {
    let keys: [JSONWebKey]
}
