internal import CordonBase
internal import CordonProtocol
internal import Foundation

/// Where ids come from; a test may hand out its own.
public struct RandomID: Sendable {
    private let bytes: @Sendable (Int) -> [UInt8]

    /// Ids from the system's random source.
    public static let system = RandomID { count in
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    /// Ids from a source of random bytes.
    public init(bytes: @escaping @Sendable (_ count: Int) -> [UInt8]) {
        self.bytes = bytes
    }

    /// 127 random bits, base64url: registrations, commands, versions.
    ///
    /// The first bit is 0, so the text begins with a letter: a command line would take `-` for a flag.
    func token() -> String {
        var random = bytes(16)
        random[0] &= 0x7F
        return Base64URL.encode(random)
    }

    /// A random GUID in lower case, for what gets its id from a transport.
    public func identifier() -> String { guid() }

    /// A random GUID in lower case (RFC 9562, version 4).
    func guid() -> String {
        var random = bytes(16)
        random[6] = random[6] & 0x0F | 0x40
        random[8] = random[8] & 0x3F | 0x80
        return random.uuidText
    }
}
