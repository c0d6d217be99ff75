package import CordonProtocol
package import Foundation

/// The frames of the broker's socket: four bytes of length, big-endian, then that many bytes of JSON (SI-193).
package enum BrokerFrame {
    /// The largest payload of a request; what an app asks is short.
    package static let largestRequest = 64 << 10
    /// The largest payload before `hello`, when nothing is known of the peer.
    package static let largestGreeting = 4 << 10
    /// The largest payload of an answer.
    package static let largestAnswer = 1 << 20

    /// The frame of a payload.
    package static func encode(_ payload: Data) -> Data {
        // An array, to which appending takes a fraction of the time.
        var frame: [UInt8] = []
        frame.reserveCapacity(payload.count + 4)
        withUnsafeBytes(of: UInt32(payload.count).bigEndian) { frame.append(contentsOf: $0) }
        payload.withUnsafeBytes { frame.append(contentsOf: $0) }
        return Data(frame)
    }
}

/// Cuts a stream of bytes into frames, however the bytes arrive; holds at most one unfinished frame.
package struct BrokerFrameReader: Sendable {
    /// The largest payload accepted from here on.
    package var limit: Int
    private var bytes: [UInt8] = []
    private var start = 0

    /// A reader that accepts payloads up to the limit.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Whether a frame has begun and not ended.
    package var isInsideFrame: Bool { bytes.count > start }
    /// How many bytes are held.
    package var held: Int { bytes.count - start }

    /// Takes bytes in.
    package mutating func append(_ more: some Sequence<UInt8>) {
        if more.withContiguousStorageIfAvailable({ bytes.append(contentsOf: $0) }) == nil {
            bytes.append(contentsOf: more)
        }
    }

    /// The next complete payload, nil when more bytes are needed.
    ///
    /// - Throws: ``ProtocolError`` with code `malformed` for a length of zero or above the limit, as soon as its four bytes are
    ///   there: the peer does not speak this protocol, and the reader is of no further use.
    package mutating func next() throws(ProtocolError) -> Data? {
        guard bytes.count - start >= 4 else { return nil }
        let length = bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        guard length > 0, length <= limit else {
            throw ProtocolError(.malformed, "a frame of \(length) bytes is announced")
        }
        guard bytes.count - start - 4 >= length else { return nil }
        let payload = Data(bytes[start + 4..<start + 4 + length])
        start += 4 + length
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 4_096)
            start = 0
        } else if start > 65_536 {
            bytes.removeFirst(start)
            start = 0
        }
        return payload
    }
}
