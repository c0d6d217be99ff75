import CordonBase
import Crypto
import Foundation
import Logging

/// What every part of the provider shares: the configuration, the time, randomness and the log.
struct ProviderEnvironment: Sendable {
    let configuration: IdentityProviderConfiguration
    let clock: @Sendable () -> Date
    let random: @Sendable (_ count: Int) -> [UInt8]
    let logger: Logger

    var now: Date { clock() }

    func randomText(_ count: Int = 32) -> String { Base64URL.encode(Data(random(count))) }

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
}
