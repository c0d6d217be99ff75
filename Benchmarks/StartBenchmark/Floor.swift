import Crypto
import Foundation

/// What a start with rules in place cannot do without, done by the bare libraries: the stored files are read, two signatures are
/// verified (of the keys and of the envelope), keys are derived and records opened. Cordon's start stands beside this.
enum Floor {
    /// Derived keys and opened records of one start.
    private static let records = 5
    private static let signed = Data(repeating: 7, count: 2_000)
    private static let root = SymmetricKey(data: Data(repeating: 3, count: 32))

    /// Writes what ``measure(in:)`` verifies and opens.
    static func prepare(in folder: URL) throws {
        let place = folder.appending(path: "floor")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let signer = P256.Signing.PrivateKey()
        try signer.publicKey.rawRepresentation.write(to: place.appending(path: "key"))
        try signer.signature(for: signed).rawRepresentation.write(to: place.appending(path: "signature"))
        for number in 0..<records {
            let box = try AES.GCM.seal(signed, using: derived(number)).combined ?? Data()
            try box.write(to: place.appending(path: "record-\(number)"))
        }
    }

    /// Prints the processor's milliseconds that it takes.
    static func measure(in folder: URL) throws {
        let begin = Child.ownTime
        let place = folder.appending(path: "floor")
        let key = try P256.Signing.PublicKey(rawRepresentation: Data(contentsOf: place.appending(path: "key")))
        let signature = try P256.Signing.ECDSASignature(
            rawRepresentation: Data(contentsOf: place.appending(path: "signature")))
        for _ in 0..<2 {
            guard key.isValidSignature(signature, for: signed) else { throw CocoaError(.coderInvalidValue) }
        }
        for number in 0..<records {
            let box = try AES.GCM.SealedBox(combined: Data(contentsOf: place.appending(path: "record-\(number)")))
            guard try AES.GCM.open(box, using: derived(number)) == signed else {
                throw CocoaError(.coderInvalidValue)
            }
        }
        print((Child.ownTime - begin) * 1e3)
    }

    private static func derived(_ number: Int) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(inputKeyMaterial: root, info: Data("record \(number)".utf8), outputByteCount: 32)
    }
}
