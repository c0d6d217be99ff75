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

    private static let limit = (logRounds: 18, blockSize: 8, parallelism: 4)

    /// Bytes that one derivation takes.
    var memory: Int { 128 * blockSize << logRounds }

    /// Whether a stored cost is within the bounds; one that is not was not written by Cordon.
    var isWithinBounds: Bool {
        self == PINCost(logRounds: logRounds, blockSize: blockSize, parallelism: parallelism)
    }
}
