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

    /// 128 random bits, base64url: registrations, commands, versions.
    func token() -> String { Base64URL.encode(bytes(16)) }

    /// A random GUID in lower case, for what gets its id from a transport.
    public func identifier() -> String { guid() }

    /// A random GUID in lower case (RFC 9562, version 4).
    func guid() -> String {
        var random = bytes(16)
        random[6] = random[6] & 0x0F | 0x40
        random[8] = random[8] & 0x3F | 0x80
        var text = ""
        for (index, byte) in random.enumerated() {
            if [4, 6, 8, 10].contains(index) { text += "-" }
            text += String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }
        return text
    }
}
