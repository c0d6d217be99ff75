import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Testing

/// SDK-CP-02: pins are checked against whole certificates, and what is no chain has its own number.
@Suite(.timeLimit(.minutes(10))) struct CertificateTests {
    /// A server's certificate and its issuer's, made for this test, with the SHA-256 of each public key info.
    private static let leaf = certificate(
        """
        MIIBBTCBq6ADAgECAgEHMAoGCCqGSM49BAMCMAwxCjAIBgNVBAMMAXIwHhcNMjYwMTAxMDAwMDAwWhcNNDYwMTAxMDAwMDAwWjAM
        MQowCAYDVQQDDAFsMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEerZvIJAsJTk7cQ2Hki91b936WuYgaBY2g03D2mWzIxN4GmQ4
        Rq0ni2KUpRX50K72YU1pjfsCX+gvsB71k4LO3zAKBggqhkjOPQQDAgNJADBGAiEAsyu7rlET46+3lLsdK12QnSh2HQ5QJJUKZ4UW
        yY+EAgoCIQDrqMcxn7PfofAz6ZQxIbSvYS/ky3de/+x7IPDVl9y8Jw==
        """)
    private static let root = certificate(
        """
        MIIBAzCBq6ADAgECAgEHMAoGCCqGSM49BAMCMAwxCjAIBgNVBAMMAXIwHhcNMjYwMTAxMDAwMDAwWhcNNDYwMTAxMDAwMDAwWjAM
        MQowCAYDVQQDDAFyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEvTWaxjNaqvg/XiZC2FMgv8kzcIQNFoqGuGajXaV3yVskYyP0
        ewY5UVk0QCpjHUCQzVJEun0u2NF+MO/yisx7mTAKBggqhkjOPQQDAgNHADBEAiAUYeNOs+9GEkNhKHDnUdaFvqg5bg5MbwkUq0+e
        xFThagIgRg+JTPMxBQfLWmBJjb07aARm6y/1kq+TOtrPXaP4Jmw=
        """)
    private static let leafPin = "WmuRjPpB4KAC3nmD1jtGLr-cr6gVfLkb1Qkieg74K5I"
    private static let rootPin = "ro5r4YsohF6bCk15YJ06YIdvEpoM8Tw0wmXSrGoNLsI"

    private static func certificate(_ text: String) -> Data {
        Data(base64Encoded: text, options: .ignoreUnknownCharacters) ?? Data()
    }

    private func enrolled(pinning pins: [String]) async throws -> AppProtection {
        let device = try Device()
        await device.service.set { $0.change = { $0.certificatePins = ["mail.example": pins] } }
        return try await device.enrolled()
    }

    private func failure(_ protection: AppProtection, _ chain: [Data], host: String? = "mail.example")
        -> PinningFailure?
    {
        do throws(ProtectionError) {
            try protection.pinning.checkPins(ofCertificates: chain, for: host, account: "oid-a")
            return nil
        } catch { return error.pinning }
    }

    @Test func `a pin holds for the key of any certificate in the chain`() async throws {
        for pin in [Self.leafPin, Self.rootPin] {
            let protection = try await enrolled(pinning: [pin])
            #expect(failure(protection, [Self.leaf, Self.root]) == nil)
        }
        let protection = try await enrolled(pinning: [Self.rootPin])
        #expect(failure(protection, [Self.leaf]) == .matchNotFound)
        #expect(failure(protection, [Self.leaf], host: "other.example") == nil)
    }

    /// The app configuration that an administrator assigns, as Graph carries it: text.
    private static func configuration(_ pins: String) -> JSONValue {
        .object([CertificatePins.configurationKey: .string(pins)])
    }

    @Test func `pins that an administrator assigns hold from the check-in that brings them to the one that ends them`()
        async throws
    {
        let device = try Device()
        let protection = try await device.enrolled()
        let chain = [Self.leaf, Self.root]
        func assign(_ configurations: JSONValue...) async {
            await device.service.set { [configurations] in $0.change = { $0.configurations = configurations } }
            await protection.checkIn("oid-a")
        }
        #expect(failure(protection, chain) == nil && !protection.pinning.hasCertificatePins("oid-a"))
        let other = String(repeating: "A", count: 43)
        await assign(Self.configuration(#"{"MAIL.example.": ["sha256/\#(other)="]}"#))
        #expect(protection.pinning.hasCertificatePins("oid-a"))
        #expect(failure(protection, chain) == .matchNotFound)
        #expect(failure(protection, chain, host: "other.example") == nil)
        // Both spellings of base64, with and without the name of the hash; the successor's pin stands beside it.
        let slashes = Self.rootPin.replacing("-", with: "+").replacing("_", with: "/") + "="
        for pin in [Self.rootPin, "sha256/" + slashes] {
            await assign(Self.configuration(#"{"mail.example": ["\#(other)", "\#(pin)"]}"#))
            #expect(failure(protection, chain) == nil)
        }
        // Where several administrators pin a host, the chain keeps to all of them.
        let (leaf, root) = (#"{"mail.example": ["\#(Self.leafPin)"]}"#, #"{"mail.example": ["\#(Self.rootPin)"]}"#)
        await assign(Self.configuration(leaf), Self.configuration(root))
        #expect(failure(protection, chain) == nil)
        #expect(failure(protection, [Self.leaf]) == .matchNotFound)
        await assign()
        #expect(failure(protection, [Self.leaf]) == nil && !protection.pinning.hasCertificatePins("oid-a"))
    }

    @Test func `pins that cannot be read let nothing through, and have a number of their own`() async throws {
        for (text, isForAll) in [
            ("mail.example", true), ("[]", true), (#"{"mail.example": "x"}"#, true),
            (#"{"mail.example": ["sha1/AAAA"]}"#, false), (#"{"mail.example": [7]}"#, false),
        ] {
            let device = try Device()
            await device.service.set { $0.change = { $0.configurations = [Self.configuration(text)] } }
            let protection = try await device.enrolled()
            #expect(protection.pinning.hasCertificatePins("oid-a"), "\(text)")
            #expect(failure(protection, [Self.leaf]) == .algorithmNotSupported, "\(text)")
            #expect(
                failure(protection, [Self.leaf], host: "other.example") == (isForAll ? .algorithmNotSupported : nil))
        }
    }

    /// In a process of its own, in which nothing was declared.
    @Test func `before any identity is declared a host has the pins of every account that name it`() async {
        await #expect(processExitsWith: .success) {
            let device = try Device()
            let accounts = TwoAccounts(device)
            await accounts.first.set { $0.change = { $0.certificatePins = ["mail.example": [Self.rootPin]] } }
            await accounts.second.set {
                $0.change = {
                    $0.configurations = ["[]", #"{"odd.example": ["sha1/AAAA"]}"#].map(Self.configuration)
                }
            }
            let protection = try await accounts.enrolled(on: device, [:], [:])
            #expect(IdentityContext.current == .unset)
            func refusal(_ host: String, _ chain: [Data]) -> PinningFailure? {
                do throws(ProtectionError) {
                    try protection.pinning.checkPins(ofCertificates: chain, for: host)
                    return nil
                } catch { return error.pinning }
            }
            #expect(refusal("mail.example", [Self.leaf, Self.root]) == nil)
            #expect(refusal("mail.example", [Self.leaf]) == .matchNotFound)
            #expect(refusal("odd.example", [Self.leaf]) == .algorithmNotSupported)
            #expect(refusal("other.example", [Self.leaf]) == nil, "what cannot be read names no host")
            IdentityContext.with(.personal) { #expect(refusal("mail.example", [Self.leaf]) == nil) }
        }
    }

    @Test func `what is no chain of certificates is refused with its number`() async throws {
        let protection = try await enrolled(pinning: [Self.leafPin])
        #expect(failure(protection, []) == .invalidCertificateChain)
        #expect(failure(protection, [Self.leaf, Self.root], host: nil) == .nilHost)
        #expect(failure(protection, [Self.root, Self.leaf]) == .failedFormationEvaluation)
        #expect(failure(protection, [Self.leaf, Self.leaf]) == .failedFormationEvaluation)
        for length in 0..<Self.leaf.count {
            #expect(failure(protection, [Self.leaf.prefix(length), Self.root]) == .errorAccessingCertificate)
        }
        #expect(failure(protection, [Data("a public key".utf8)]) == .errorAccessingCertificate)
    }
}
