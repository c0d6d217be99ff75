internal import CordonBase
public import CordonProtocol
import Crypto
import CryptoExtras
public import Foundation

/// A password as the directory stores it: scrypt (RFC 7914) with its own salt and parameters, never the password itself.
public struct DirectoryPassword: Sendable, Equatable, Codable {
    /// Cost of one scrypt run. Memory is `128 · rounds · blockSize` bytes.
    public struct Parameters: Sendable, Equatable {
        /// `N`, a power of two from 1,024 to 1,048,576.
        public var rounds: Int
        /// `r`, from 1 to 32.
        public var blockSize: Int
        /// `p`, from 1 to 16.
        public var parallelism: Int

        /// Makes parameters; they are checked when a password is hashed or a directory is validated.
        public init(rounds: Int = 16_384, blockSize: Int = 8, parallelism: Int = 1) {
            self.rounds = rounds
            self.blockSize = blockSize
            self.parallelism = parallelism
        }
    }

    /// The parameters this hash was made with.
    public let parameters: Parameters
    /// 16 to 64 random bytes.
    public let salt: Data
    /// 32 bytes derived from the password.
    public let hash: Data

    static let hashLength = 32
    static let longestPassword = 1_024
    static let mostMemory = 256 << 20

    /// Hashes a password with a new salt.
    ///
    /// - Throws: ``ProgramError`` with code `passwordUnusable` when the password is empty or longer than
    ///   1,024 bytes, or when the parameters are out of bounds.
    public init(_ password: String, parameters: Parameters = Parameters()) throws(ProgramError) {
        var generator = SystemRandomNumberGenerator()
        try self.init(password, parameters: parameters, salt: Data((0..<16).map { _ in generator.next() }))
    }

    init(_ password: String, parameters: Parameters, salt: Data) throws(ProgramError) {
        if let problem = Self.problem(parameters: parameters, salt: salt) {
            throw ProgramError(
                .passwordUnusable, reason: problem, place: "password", hint: "leave the parameters at their defaults")
        }
        guard let key = Self.derive(password, parameters: parameters, salt: salt) else {
            throw ProgramError(
                .passwordUnusable, reason: "the password is empty or longer than \(Self.longestPassword) bytes",
                place: "password", hint: "choose a password of 1 to \(Self.longestPassword) bytes")
        }
        self.parameters = parameters
        self.salt = salt
        self.hash = key.withUnsafeBytes { Data($0) }
    }

    /// Whether this is the password. The time taken does not depend on where two hashes differ.
    public func matches(_ password: String) -> Bool {
        guard Self.problem(parameters: parameters, salt: salt) == nil,
            let key = Self.derive(password, parameters: parameters, salt: salt)
        else { return false }
        // SymmetricKey compares in constant time.
        return key == SymmetricKey(data: hash)
    }

    /// What is wrong with the stored values, if anything.
    var problem: String? {
        if let problem = Self.problem(parameters: parameters, salt: salt) { return problem }
        return hash.count == Self.hashLength ? nil : "the hash must have \(Self.hashLength) bytes"
    }

    private static func problem(parameters: Parameters, salt: Data) -> String? {
        let rounds = parameters.rounds
        guard rounds >= 1_024, rounds <= 1 << 20, rounds.nonzeroBitCount == 1 else {
            return "n must be a power of two from 1024 to 1048576"
        }
        guard (1...32).contains(parameters.blockSize) else { return "r must be from 1 to 32" }
        guard (1...16).contains(parameters.parallelism) else { return "p must be from 1 to 16" }
        guard 128 * rounds * parameters.blockSize <= mostMemory else { return "128·n·r must not exceed 256 MiB" }
        guard (16...64).contains(salt.count) else { return "the salt must have 16 to 64 bytes" }
        return nil
    }

    private static func derive(_ password: String, parameters: Parameters, salt: Data) -> SymmetricKey? {
        // The same password typed on two keyboards may arrive composed or decomposed.
        let bytes = Data(password.precomposedStringWithCanonicalMapping.utf8)
        guard (1...longestPassword).contains(bytes.count) else { return nil }
        return try? KDF.Scrypt.deriveKey(
            from: bytes, salt: salt, outputByteCount: hashLength, rounds: parameters.rounds,
            blockSize: parameters.blockSize, parallelism: parameters.parallelism, maxMemory: 2 * mostMemory)
    }

    private enum CodingKeys: String, CodingKey { case algorithm, n, r, p, salt, hash }

    /// Reads `{"algorithm": "scrypt", "n", "r", "p", "salt", "hash"}`, bytes in base64url.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard try container.decode(String.self, forKey: .algorithm) == "scrypt" else {
            throw DecodingError.dataCorruptedError(
                forKey: .algorithm, in: container, debugDescription: "the algorithm must be scrypt")
        }
        parameters = Parameters(
            rounds: try container.decode(Int.self, forKey: .n), blockSize: try container.decode(Int.self, forKey: .r),
            parallelism: try container.decode(Int.self, forKey: .p))
        salt = try Self.bytes(in: container, for: .salt)
        hash = try Self.bytes(in: container, for: .hash)
    }

    /// Writes what ``init(from:)`` reads.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("scrypt", forKey: .algorithm)
        try container.encode(parameters.rounds, forKey: .n)
        try container.encode(parameters.blockSize, forKey: .r)
        try container.encode(parameters.parallelism, forKey: .p)
        try container.encode(Base64URL.encode(salt), forKey: .salt)
        try container.encode(Base64URL.encode(hash), forKey: .hash)
    }

    private static func bytes(in container: KeyedDecodingContainer<CodingKeys>, for key: CodingKeys) throws -> Data {
        guard let bytes = Base64URL.decode(try container.decode(String.self, forKey: key)) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: container, debugDescription: "\(key.stringValue) must be base64url without padding")
        }
        return bytes
    }
}
