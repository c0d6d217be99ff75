package import CordonBase
internal import Crypto
package import Foundation

/// A JSON Web Signature in compact form (RFC 7515 §7.1) whose header fits a profile; the signature is not verified yet.
package struct SignedText: Sendable {
    /// The algorithm of the signature.
    package let algorithm: SignatureAlgorithm
    /// What the text says it is, nil where its header does not say so.
    package let type: String?
    /// The id of the key, nil where the profile lets a text leave it out.
    package let keyID: String?
    /// The key that the text brings along, where its profile is ``SignatureProfile/Key/embedded``.
    package let embeddedKey: P256PublicKey?
    /// What is signed. Before ``isSigned(by:)`` it may serve only to choose the key.
    package let payload: Data
    private let signature: Data
    private let text: String
    /// How many letters of the text are signed.
    private let signedCount: Int
    /// The SHA-256 of what is signed, where it is known already.
    private let digest: SHA256Digest?

    /// Splits a text and checks its header.
    ///
    /// - Throws: ``TextFlaw``; the order of its kinds is that of the checks.
    package init(_ text: String, _ profile: SignatureProfile) throws(TextFlaw) {
        try self.init(text, profile, nil)
    }

    /// The same for a text that was hashed already, which spares hashing it again to verify it.
    ///
    /// - Throws: ``TextFlaw``; the order of its kinds is that of the checks.
    package init(_ hashed: HashedText, _ profile: SignatureProfile) throws(TextFlaw) {
        try self.init(hashed.text, profile, hashed.signed)
    }

    /// The same, where the header may be one that was read before.
    ///
    /// - Throws: ``TextFlaw``; the order of its kinds is that of the checks.
    package init(_ hashed: HashedText, _ known: KnownHeaders) throws(TextFlaw) {
        try self.init(hashed.text, known.profile, hashed.signed, known)
    }

    private init(
        _ text: String, _ profile: SignatureProfile, _ digest: SHA256Digest?, _ known: KnownHeaders? = nil
    ) throws(TextFlaw) {
        guard text.utf8.count <= profile.largest else { throw TextFlaw(.tooLarge) }
        guard let parts = Parts(text, known) else { throw TextFlaw(.malformed) }
        let header: TextHeader
        switch parts.header {
        case .known(let read): header = read
        case .bytes(let bytes):
            header = try TextHeader(bytes, profile)
            known?.remember(header, text.utf8.prefix(parts.headerCount))
        }
        self.embeddedKey = header.embeddedKey
        self.algorithm = header.algorithm
        self.type = header.type
        self.keyID = header.keyID
        self.payload = parts.payload
        self.signature = parts.signature
        self.text = text
        self.signedCount = parts.signedCount
        self.digest = digest
    }

    /// Whether the key signed the text with the algorithm that its header names.
    package func isSigned(by key: VerificationKey) -> Bool {
        if let digest, algorithm.isOverSHA256 { return key.isValid(signature, forDigest: digest, by: algorithm) }
        // Through an array: `Data` of a part of a text makes the runtime search for a conformance (decision 101).
        return key.isValid(signature, for: Data(Array(text.utf8.prefix(signedCount))), by: algorithm)
    }

    /// The payload of a text of which nothing is verified; nil when it is not three parts. Only for what came straight from the
    /// signer over a connection that authenticates it (OpenID Connect Core §3.1.3.7, 6), and for what is verified besides.
    package static func unverifiedPayload(of text: String) -> Data? {
        Parts(text, nil)?.payload
    }

    /// Signs a payload under a header, both JSON.
    package static func make<Failure: Error>(
        header: Data, payload: Data, signature: (Data) throws(Failure) -> Data
    ) throws(Failure) -> String {
        let signed = Base64URL.encode(header) + "." + Base64URL.encode(payload)
        return signed + "." + Base64URL.encode(try signature(Data(signed.utf8)))
    }

    /// The three parts of a text, decoded, and how much of it is signed.
    private struct Parts {
        enum Header {
            /// One that was read before.
            case known(TextHeader)
            /// Any other.
            case bytes(Data)
        }

        let header: Header
        let payload: Data
        let signature: Data
        /// How many letters the header has.
        let headerCount: Int
        let signedCount: Int

        /// - Returns: nil for another number of parts, and where one is not canonical.
        init?(_ text: String, _ known: KnownHeaders?) {
            let parts = text.utf8.withContiguousStorageIfAvailable { Self(letters: $0, known) }
            guard let parts = parts ?? Array(text.utf8).withUnsafeBufferPointer({ Self(letters: $0, known) }) else {
                return nil
            }
            self = parts
        }

        private init?(letters: UnsafeBufferPointer<UInt8>, _ known: KnownHeaders?) {
            let dot = UInt8(ascii: ".")
            guard let first = letters.firstIndex(of: dot), let last = letters.lastIndex(of: dot), first < last,
                let header = Self.header(.init(rebasing: letters[..<first]), known),
                // A dot between them is no letter.
                let payload = Base64URL.decode(letters: .init(rebasing: letters[(first + 1)..<last])),
                let signature = Base64URL.decode(letters: .init(rebasing: letters[(last + 1)...]))
            else { return nil }
            self.header = header
            self.payload = payload
            self.signature = signature
            headerCount = first
            signedCount = last
        }

        private static func header(_ letters: UnsafeBufferPointer<UInt8>, _ known: KnownHeaders?) -> Header? {
            if let header = known?.header(letters) { return .known(header) }
            return Base64URL.decode(letters: letters).map(Header.bytes)
        }
    }
}
