/// Reads a stream of server-sent events (WHATWG HTML §9.2) as pieces of bytes arrive.
///
/// A line or an event larger than ``limit`` ends the stream with an error rather than filling memory.
public struct EventStreamParser: Sendable {
    /// One event as the stream carried it.
    public struct Message: Sendable, Equatable {
        /// The event's name; `message` where the stream named none.
        public var event: String
        /// The data lines, joined by line feeds.
        public var data: String
        /// The last id seen in the stream so far, nil where there was none.
        public var lastEventID: String?
    }

    /// The largest line and the largest event, in bytes.
    public static let limit = 64 << 10

    private var line: [UInt8] = []
    private var endedWithReturn = false
    private var event = ""
    private var data: [String] = []
    private var dataBytes = 0
    private var lastEventID: String?

    /// Makes a parser at the start of a stream.
    public init() {}

    /// The messages that the piece completes.
    ///
    /// - Throws: ``ProtocolError`` with code `malformed` when a line or an event is too large.
    public mutating func messages(after piece: some Sequence<UInt8>) throws(ProtocolError) -> [Message] {
        var messages: [Message] = []
        for byte in piece {
            let continuesReturn = endedWithReturn && byte == UInt8(ascii: "\n")
            endedWithReturn = byte == UInt8(ascii: "\r")
            if continuesReturn { continue }
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
                if let message = try endLine() { messages.append(message) }
            } else {
                guard line.count < Self.limit else { throw ProtocolError(.malformed, "an event line is too long") }
                line.append(byte)
            }
        }
        return messages
    }

    private mutating func endLine() throws(ProtocolError) -> Message? {
        defer { line.removeAll(keepingCapacity: true) }
        if line.isEmpty { return endEvent() }
        let text = String(decoding: line, as: UTF8.self)
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        var value = parts.count == 2 ? parts[1] : ""
        if value.first == " " { value = value.dropFirst() }
        switch parts[0] {
        case "event": event = String(value)
        case "id" where !value.contains("\0"): lastEventID = String(value)
        case "data":
            dataBytes += value.utf8.count + 1
            guard dataBytes <= Self.limit else { throw ProtocolError(.malformed, "an event is too large") }
            data.append(String(value))
        default: break
        }
        return nil
    }

    private mutating func endEvent() -> Message? {
        defer {
            event = ""
            data = []
            dataBytes = 0
        }
        guard !data.isEmpty else { return nil }
        return Message(
            event: event.isEmpty ? "message" : event, data: data.joined(separator: "\n"), lastEventID: lastEventID)
    }
}
