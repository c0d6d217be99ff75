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
        let text = try #require(try JSONValue(parsing: Data(contentsOf: file))["sealed"]?.string)
        let name = Data(file.lastPathComponent.utf8)
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: try keyStore.rootKey(), salt: name, info: Data("cordon-state-seal-1".utf8),
            outputByteCount: 32)
        let box = try AES.GCM.SealedBox(combined: try #require(Base64URL.decode(text)))
        return try AES.GCM.open(box, using: key, authenticating: name)
    }
}
