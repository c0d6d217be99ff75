import Cordon
import CordonBase
import CordonPolicy
import CordonProtocol
import CordonVault
import Crypto
import Foundation
import Testing

extension Device {
    /// What a sealed state file holds, opened by the documented form rather than by the code under test.
    func contents(ofState file: URL) throws -> Data {
        guard let text = try JSONValue(parsing: Data(contentsOf: file))["sealed"]?.string,
            let sealed = Base64URL.decode(text)
        else { throw CocoaError(.fileReadCorruptFile) }
        let box = try AES.GCM.SealedBox(combined: sealed)
        return try AES.GCM.open(box, using: try sealKey(), authenticating: Data(file.lastPathComponent.utf8))
    }

    /// Seals a state file with other contents, as nobody without the root key could.
    func seal(_ contents: String, inState file: URL) throws {
        let box = try AES.GCM.seal(
            Data(contents.utf8), using: try sealKey(), authenticating: Data(file.lastPathComponent.utf8))
        let text = Base64URL.encode(try #require(box.combined))
        try Data(#"{"sealed":"\#(text)","version":3}"#.utf8).write(to: file)
    }

    private func sealKey() throws -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: try keyStore.rootKey(), info: Data("cordon-state-seal-1".utf8), outputByteCount: 32)
    }
}
