import Testing

@testable import CordonService

/// The ids that the service hands out.
@Suite struct RandomIDTests {
    @Test(arguments: [0x00, 0x7B, 0xF8, 0xFB, 0xFF] as [UInt8])
    func `an id begins with a letter, so that no command line takes it for a flag`(byte: UInt8) throws {
        let id = RandomID { count in Array(repeating: byte, count: count) }.token()
        #expect(id.utf8.count == 22)
        let first = try #require(id.first)
        #expect(first.isASCII && first.isLetter)
    }
}
