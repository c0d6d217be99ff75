import CordonProtocol
import CordonSignIn
import Foundation
import Testing

/// Frames however they are cut, and lengths that lie (SI-193).
@Suite struct FrameTests {
    @Test func `frames mean the same however the bytes arrive`() throws {
        let payloads = [Data("{}".utf8), Data(repeating: 0x20, count: 70_000), Data("x".utf8)]
        let stream = payloads.map { BrokerFrame.encode($0) }.reduce(Data(), +)
        for size in [1, 3, 4, 5, 1_000, stream.count] {
            var reader = BrokerFrameReader(limit: 1 << 20)
            var seen: [Data] = []
            var rest = stream[...]
            while !rest.isEmpty {
                reader.append(rest.prefix(size))
                rest = rest.dropFirst(size)
                while let payload = try reader.next() { seen.append(payload) }
            }
            #expect(seen == payloads, "in pieces of \(size)")
            #expect(!reader.isInsideFrame && reader.held == 0)
        }
    }

    @Test(arguments: [[0, 0, 0, 0], [0, 1, 0, 1], [255, 255, 255, 255], [127, 255, 255, 255]] as [[UInt8]])
    func `a length of zero or above the limit is refused before anything else arrives`(head: [UInt8]) {
        var reader = BrokerFrameReader(limit: 65_536)
        reader.append(head)
        #expect(throws: ProtocolError.self) { try reader.next() }
    }

    @Test func `a frame of exactly the limit is read`() throws {
        var reader = BrokerFrameReader(limit: 10)
        reader.append(BrokerFrame.encode(Data(repeating: 1, count: 10)))
        #expect(try reader.next()?.count == 10)
        #expect(try reader.next() == nil)
    }
}
