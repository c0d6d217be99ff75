internal import Crypto
internal import Foundation

/// What the secret store keeps per session: the key of its file and the newest generation of that file.
///
/// The counter lies outside the file so that an old copy of the file is recognised (SI-206).
struct SessionSecret: Sendable {
    let key: SymmetricKey
    var generation: UInt64

    var bytes: Data {
        var bytes = key.withUnsafeBytes { Data($0) }
        withUnsafeBytes(of: generation.bigEndian) { bytes.append(contentsOf: $0) }
        return bytes
    }

    init(key: SymmetricKey, generation: UInt64) {
        self.key = key
        self.generation = generation
    }

    init?(_ bytes: Data) {
        guard bytes.count == 40 else { return nil }
        key = SymmetricKey(data: bytes.prefix(32))
        generation = bytes.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }

    static func name(_ id: UUID) -> String { "session-" + id.uuidString }
}
