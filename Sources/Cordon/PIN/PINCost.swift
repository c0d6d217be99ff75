/// How much work one guess at a PIN takes: the parameters of scrypt (RFC 7914), kept beside every PIN.
package struct PINCost: Sendable, Equatable, Codable {
    /// The base-2 logarithm of the CPU and memory cost.
    package let logRounds: Int
    /// The block size; memory is 128 times this times 2 to the power of ``logRounds``, in bytes.
    package let blockSize: Int
    /// How many blocks are mixed one after another.
    package let parallelism: Int

    /// Names a cost; values out of bounds are cut to them, so that no stored value can exhaust the device.
    package init(logRounds: Int, blockSize: Int = 8, parallelism: Int = 1) {
        self.logRounds = min(max(logRounds, 1), Self.limit.logRounds)
        self.blockSize = min(max(blockSize, 1), Self.limit.blockSize)
        self.parallelism = min(max(parallelism, 1), Self.limit.parallelism)
    }

    /// 64 MiB for each guess, some tenths of a second on a telephone.
    package static let standard = PINCost(logRounds: 16)
    /// The same work in 16 MiB, one block after the other: systems end an app extension that takes some tens of MiB.
    package static let appExtension = PINCost(logRounds: 14, parallelism: 4)
    /// The most memory that a guess may take in an app extension, in bytes.
    static let extensionLimit = 24 << 20

    private static let limit = (logRounds: 18, blockSize: 8, parallelism: 4)

    /// Bytes that one derivation takes.
    var memory: Int { 128 * blockSize << logRounds }
}

extension PINCost {
    /// Reads a stored cost. One out of bounds was not written by Cordon, and could exhaust the device.
    package init(from decoder: any Decoder) throws {
        let stored = try decoder.container(keyedBy: CodingKeys.self)
        func read(_ key: CodingKeys) throws -> Int { try stored.decode(Int.self, forKey: key) }
        let (logRounds, blockSize, parallelism) = (try read(.logRounds), try read(.blockSize), try read(.parallelism))
        self.init(logRounds: logRounds, blockSize: blockSize, parallelism: parallelism)
        guard (self.logRounds, self.blockSize, self.parallelism) == (logRounds, blockSize, parallelism) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: stored.codingPath, debugDescription: "a cost beyond all bounds"))
        }
    }
}

extension ProtectionConfiguration {
    /// The work of a guess that fits this process and every other one that checks the same PIN.
    var usualPINCost: PINCost { isExtension || asksPINInExtensions ? .appExtension : .standard }
}
