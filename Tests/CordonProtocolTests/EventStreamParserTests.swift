import CordonProtocol
import Testing

@Suite struct EventStreamParserTests {
    private let stream = ": hello\n\nid: 7\nevent: change\ndata: {\"a\":\ndata: 1}\n\ndata:x\r\n\r\nid\ndata\n\n"

    @Test(arguments: [1, 2, 3, 1000]) func `events are the same however the bytes are cut`(size: Int) throws {
        var parser = EventStreamParser()
        var messages: [EventStreamParser.Message] = []
        var rest = Array(stream.utf8)[...]
        while !rest.isEmpty {
            messages += try parser.messages(after: rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        #expect(messages.map(\.event) == ["change", "message", "message"])
        #expect(messages.map(\.data) == ["{\"a\":\n1}", "x", ""])
        #expect(messages.map(\.lastEventID) == ["7", "7", ""])
    }

    @Test func `a line without end is refused instead of filling memory`() {
        var parser = EventStreamParser()
        #expect(throws: ProtocolError(.malformed, "")) {
            try parser.messages(after: repeatElement(UInt8(ascii: "a"), count: EventStreamParser.limit + 1))
        }
    }

    @Test func `an event of endless data lines is refused`() throws {
        var parser = EventStreamParser()
        #expect(throws: ProtocolError(.malformed, "")) {
            for _ in 0..<100 {
                _ = try parser.messages(after: Array("data: \(String(repeating: "x", count: 1000))\n".utf8))
            }
        }
    }
}
