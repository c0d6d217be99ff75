import CordonBase
import CordonProtocol
import CordonServiceHTTP
import Crypto
import Foundation

/// What verifying an access token costs beside the signature check in it, and what the second look costs (P9).
enum Tokens {
    static let count = 1_000

    static func measure() async throws {
        let issuer = Issuer(key: SoftwareSigningKey())
        let device = SoftwareSigningKey().publicKey
        var tokens: [String] = []
        for _ in 0..<count {
            tokens.append(try issuer.checkInToken(ServiceProcess.person(0), boundTo: device))
        }
        let key = try P256.Signing.PublicKey(rawRepresentation: issuer.key.publicKey.x + issuer.key.publicKey.y)
        let signed = try tokens.map { token -> (Data, P256.Signing.ECDSASignature) in
            let parts = token.split(separator: ".")
            guard parts.count == 3, let signature = Base64URL.decode(parts[2]) else {
                throw CocoaError(.coderInvalidValue)
            }
            return (
                Data((parts[0] + "." + parts[1]).utf8), try P256.Signing.ECDSASignature(rawRepresentation: signature)
            )
        }
        var (rates, memories): ([Double], [Double]) = ([], [])
        for _ in 0..<5 {
            let verifier = AccessTokenVerifier(
                rules: TokenRules(
                    issuers: [.init(issuer: Issuer.name, tenant: ServiceProcess.tenant)],
                    checkInAudience: ServiceServerConfiguration.usualCheckInAudience,
                    administrationAudiences: [ServiceServerConfiguration.usualAdministrationAudience]),
                documents: issuer)
            _ = try await verifier.verify(try issuer.ownerToken(of: ServiceProcess.tenant), for: .administration)
            let raw = try Meter.seconds {
                for (bytes, signature) in signed where !key.isValidSignature(signature, for: bytes) {
                    throw CocoaError(.coderInvalidValue)
                }
            }
            let first = try await Meter.seconds {
                for token in tokens { _ = try await verifier.verify(token, for: .checkIn) }
            }
            let again = try await Meter.seconds {
                for token in tokens { _ = try await verifier.verify(token, for: .checkIn) }
            }
            rates.append(raw / first)
            memories.append(again / first)
        }
        Meter.say("P9 tokens verified, times the rate of bare signature checks", rates, atLeast: 0.85)
        Meter.say("P9 a remembered token, times a verification", memories, atMost: 1.0 / 30)
    }
}
