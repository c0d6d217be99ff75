import Foundation

/// The devices that wait for a person at another screen (RFC 8628), and how often codes may be tried.
struct DeviceAuthorizations: Sendable {
    /// Letters that make no words and are not mistaken for one another (RFC 8628 §6.1).
    private static let userCodeLetters = Array("BCDFGHJKLMNPQRSTVWXZ")
    /// How long an expired device code is still answered with `expired_token`.
    private static let afterExpiry: TimeInterval = 600
    /// What `slow_down` adds to the interval (RFC 8628 §3.5).
    private static let slowDown: TimeInterval = 5
    /// What two clocks may differ by over one interval.
    private static let pollTolerance: TimeInterval = 0.25

    private let environment: ProviderEnvironment
    private var devices: ProviderBoundedTable<String, ProviderDeviceAuthorization>
    private var userCodes: ProviderBoundedTable<String, String>
    private var attempts: ProviderAttemptLimiter

    init(_ environment: ProviderEnvironment) {
        self.environment = environment
        let configuration = environment.configuration
        devices = .init(capacity: configuration.capacity)
        userCodes = .init(capacity: configuration.capacity)
        attempts = .init(
            perKey: 30, total: 30, window: ProviderEnvironment.seconds(configuration.passwordAttemptWindow),
            capacity: configuration.capacity)
    }

    /// What a device gets and shows.
    struct Codes {
        let device: String
        /// Eight letters with a hyphen in the middle.
        let user: String
        let interval: TimeInterval
    }

    mutating func begin(for client: IdentityProviderClient, _ access: ProviderAccess) -> Codes {
        let now = environment.now
        let deviceCode = environment.randomText()
        let userCode = newUserCode()
        let expires = now + environment.seconds(\.deviceCode)
        let interval = environment.seconds(\.devicePollInterval)
        let key = ProviderEnvironment.digest(deviceCode)
        devices.insert(
            ProviderDeviceAuthorization(
                clientID: client.id, access: access, expires: expires, interval: interval, lastPoll: now),
            for: key, until: expires + Self.afterExpiry, at: now)
        userCodes.insert(key, for: userCode, until: expires, at: now)
        return Codes(device: deviceCode, user: userCode.prefix(4) + "-" + userCode.suffix(4), interval: interval)
    }

    private func newUserCode() -> String {
        var code = ""
        while code.count < 8 {
            // Bytes from 240 up would make some letters likelier than others.
            for byte in environment.random(16) where byte < 240 && code.count < 8 {
                code.append(Self.userCodeLetters[Int(byte) % Self.userCodeLetters.count])
            }
        }
        return code
    }

    /// The outcome of a code that a person typed.
    enum Entry {
        /// The key of the device that waits.
        case found(String)
        case unknown
        /// Too many codes were tried; seconds to wait.
        case wait(Int)
    }

    mutating func enter(userCode typed: String) -> Entry {
        let code = typed.uppercased().filter(Self.userCodeLetters.contains)
        let now = environment.now
        if let wait = attempts.begin("device", at: now) { return .wait(wait) }
        guard let key = userCodes.value(code, at: now), case .pending = device(key)?.state else { return .unknown }
        attempts.giveBack("device", at: now)
        return .found(key)
    }

    func device(_ key: String) -> ProviderDeviceAuthorization? { devices.value(key, at: environment.now) }

    func device(code: String) -> ProviderDeviceAuthorization? { device(ProviderEnvironment.digest(code)) }

    /// A person's decision on a device; it counts once. `grant` is made when the person allows it.
    ///
    /// - Returns: The device, nil when it no longer waits.
    mutating func decide(
        _ key: String, grant: (ProviderDeviceAuthorization) -> ProviderGrant?
    ) -> ProviderDeviceAuthorization? {
        guard let device = device(key), case .pending = device.state, device.expires > environment.now else {
            return nil
        }
        let state = grant(device).map(ProviderDeviceAuthorization.State.approved) ?? .denied
        devices.update(key, at: environment.now) { $0.state = state }
        return device
    }

    /// Refuses a device that still waits.
    mutating func deny(_ key: String) {
        devices.update(key, at: environment.now) { if case .pending = $0.state { $0.state = .denied } }
    }

    /// What a poll of the device gets: the grant once, or the reason to wait or to stop.
    mutating func redeem(code: String, client: IdentityProviderClient) throws(OAuthError) -> ProviderGrant {
        let now = environment.now
        let key = ProviderEnvironment.digest(code)
        guard let device = device(key), device.clientID == client.id else {
            throw OAuthError(.invalidGrant, "the device code is not known")
        }
        if case .redeemed = device.state { throw OAuthError(.invalidGrant, "the device code was used") }
        guard device.expires > now else { throw OAuthError(.expiredToken, "the device code has expired") }
        switch device.state {
        case .approved(let grant):
            devices.update(key, at: now) { $0.state = .redeemed }
            return grant
        case .denied: throw OAuthError(.accessDenied, "the person refused")
        case .redeemed, .pending:
            let early = now.timeIntervalSince(device.lastPoll) < device.interval - Self.pollTolerance
            devices.update(key, at: now) {
                $0.lastPoll = now
                if early { $0.interval += Self.slowDown }
            }
            throw early
                ? OAuthError(.slowDown, "wait for the interval, and five seconds more from now on")
                : OAuthError(.authorizationPending, "the person has not decided yet")
        }
    }

    /// Forgets the approved devices whose grant the condition names.
    mutating func removeAll(where condition: (ProviderGrant) -> Bool) {
        devices.removeAll { device in
            if case .approved(let grant) = device.state { condition(grant) } else { false }
        }
    }
}
