import CordonService
import Crypto
import Foundation
import HTTPTypes
import SwiftASN1
@_spi(FixedExpiryValidationTime) import X509

/// Checks what App Attest says of an app: that a device's hardware made the key for this app, and that the key signed for this registration now.
///
/// The checks follow the order of Apple's own list: chain, nonce, key, app, counter, environment, name of the key. The first that fails
/// ends it.
struct AppAttestVerifier: Sendable {
    /// The largest attestation or assertion: two certificates and a receipt are some six thousand bytes.
    static let largest = 16 << 10

    private let settings: AppAttestSettings
    private let roots: [Certificate]

    /// - Parameter root: The certificate that chains end at, in PEM; Apple's unless a test has its own.
    init?(_ settings: AppAttestSettings, root: String = Self.appleRoot) {
        guard let certificate = try? Certificate(pemEncoded: root) else { return nil }
        self.settings = settings
        roots = [certificate]
    }

    /// The evidence of a new key.
    ///
    /// - Parameters:
    ///   - attestation: What the system gave the app.
    ///   - keyID: The name of the key, as the app says it.
    ///   - challenge: What it is to be about.
    ///   - bundleID: The app of the registration.
    /// - Throws: ``Refusal`` saying which check failed.
    func attested(
        _ attestation: Data, keyID: Data, challenge: Data, bundleID: String, at now: Date
    ) async throws -> VerifiedEvidence {
        guard let app = settings.app(bundleID: bundleID) else {
            throw Self.refusal("no evidence of this app is accepted")
        }
        guard let object = CBORValue(attestation), object["fmt"] == .text("apple-appattest"),
            let statement = object["attStmt"], let chain = statement["x5c"]?.list, (2...4).contains(chain.count),
            let told = object["authData"]?.bytes, let data = AuthenticatorData(told, hasCredential: true),
            let credential = data.credential
        else { throw Self.refusal("the attestation is not from App Attest") }
        let certificates = chain.compactMap { $0.bytes.flatMap { try? Certificate(derEncoded: Array($0)) } }
        guard certificates.count == chain.count, let leaf = certificates.first else {
            throw Self.refusal("a certificate cannot be read")
        }
        guard await leadsToRoot(leaf, certificates.dropFirst(), at: now) else {
            throw Self.refusal("the certificates do not lead to Apple's root")
        }
        let nonce = Self.hash(told + Self.hash(challenge))
        guard leaf.extensions[oid: Self.nonceExtension].map({ Data($0.value) }) == Self.nonceHeader + nonce else {
            throw Self.refusal("the attestation is about another registration, key or nonce")
        }
        guard let key = P256.Signing.PublicKey(leaf.publicKey)?.x963Representation, Self.hash(key) == keyID,
            credential.publicKey == key, credential.id == keyID
        else { throw Self.refusal("the attestation is about another key") }
        guard data.appHash == Self.hash(Data(app.utf8)) else {
            throw Self.refusal("the attestation is about another app")
        }
        guard data.counter == 0 else { throw Self.refusal("the key was used before it was attested") }
        guard credential.environment == .production || settings.allowsDevelopment else {
            throw Self.refusal("keys of the development environment do not count")
        }
        return VerifiedEvidence(
            app: app, environment: credential.environment.rawValue, keyID: keyID, publicKey: key, counter: 0,
            verified: now)
    }

    /// The evidence of a key that was attested before, confirmed.
    ///
    /// - Throws: ``Refusal`` saying which check failed.
    func asserted(
        _ assertion: Data, by known: VerifiedEvidence, challenge: Data, bundleID: String, at now: Date
    ) throws -> VerifiedEvidence {
        guard settings.app(bundleID: bundleID) == known.app else {
            throw Self.refusal("no evidence of this app is accepted")
        }
        guard known.environment == AppAttestSettings.Environment.production.rawValue || settings.allowsDevelopment
        else {
            throw Self.refusal("keys of the development environment do not count")
        }
        guard let object = CBORValue(assertion), let signature = object["signature"]?.bytes,
            let told = object["authenticatorData"]?.bytes,
            let data = AuthenticatorData(told, hasCredential: false)
        else { throw Self.refusal("the assertion is not from App Attest") }
        let nonce = Self.hash(told + Self.hash(challenge))
        guard let key = try? P256.Signing.PublicKey(x963Representation: known.publicKey),
            let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature),
            key.isValidSignature(signature, for: nonce)
        else { throw Self.refusal("the attested key did not sign for this registration and nonce") }
        guard data.appHash == Self.hash(Data(known.app.utf8)) else {
            throw Self.refusal("the assertion is about another app")
        }
        guard data.counter > known.counter else { throw Self.refusal("the assertion was used before") }
        var confirmed = known
        confirmed.counter = data.counter
        confirmed.verified = now
        confirmed.refused = nil
        return confirmed
    }

    private func leadsToRoot(_ leaf: Certificate, _ others: some Sequence<Certificate>, at now: Date) async -> Bool {
        // By the service's clock.
        var verifier = Verifier(rootCertificates: CertificateStore(roots)) {
            RFC5280Policy(fixedExpiryValidationTime: now)
        }
        switch await verifier.validate(leaf: leaf, intermediates: CertificateStore(Array(others))) {
        case .validCertificate: return true
        case .couldNotValidate: return false
        }
    }

    private static func hash(_ bytes: Data) -> Data { Data(SHA256.hash(data: bytes)) }

    static func refusal(_ reason: String) -> Refusal {
        Refusal(.unprocessableContent, "evidence", "The evidence was refused.", detail: reason)
    }

    private static let nonceExtension: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 8, 2]
    /// A sequence with one octet string of 32 bytes under the tag 1, in DER: what stands before the nonce.
    private static let nonceHeader = Data([0x30, 0x24, 0xa1, 0x22, 0x04, 0x20])

    /// Apple App Attestation Root CA, SHA-256 1CB9823B A28BA6AD 2D33A006 941DE2AE 4F513EF1 D4E831B9 F7E0FA7B 6242C932, valid until March 2045.
    static let appleRoot = """
        -----BEGIN CERTIFICATE-----
        MIICITCCAaegAwIBAgIQC/O+DvHN0uD7jG5yH2IXmDAKBggqhkjOPQQDAzBSMSYw
        JAYDVQQDDB1BcHBsZSBBcHAgQXR0ZXN0YXRpb24gUm9vdCBDQTETMBEGA1UECgwK
        QXBwbGUgSW5jLjETMBEGA1UECAwKQ2FsaWZvcm5pYTAeFw0yMDAzMTgxODMyNTNa
        Fw00NTAzMTUwMDAwMDBaMFIxJjAkBgNVBAMMHUFwcGxlIEFwcCBBdHRlc3RhdGlv
        biBSb290IENBMRMwEQYDVQQKDApBcHBsZSBJbmMuMRMwEQYDVQQIDApDYWxpZm9y
        bmlhMHYwEAYHKoZIzj0CAQYFK4EEACIDYgAERTHhmLW07ATaFQIEVwTtT4dyctdh
        NbJhFs/Ii2FdCgAHGbpphY3+d8qjuDngIN3WVhQUBHAoMeQ/cLiP1sOUtgjqK9au
        Yen1mMEvRq9Sk3Jm5X8U62H+xTD3FE9TgS41o0IwQDAPBgNVHRMBAf8EBTADAQH/
        MB0GA1UdDgQWBBSskRBTM72+aEH/pwyp5frq5eWKoTAOBgNVHQ8BAf8EBAMCAQYw
        CgYIKoZIzj0EAwMDaAAwZQIwQgFGnByvsiVbpTKwSga0kP0e8EeDS4+sQmTvb7vn
        53O5+FRXgeLhpJ06ysC5PrOyAjEAp5U4xDgEgllF7En3VcE3iexZZtKeYnpqtijV
        oyFraWVIyd/dganmrduC1bmTBGwD
        -----END CERTIFICATE-----
        """
}
