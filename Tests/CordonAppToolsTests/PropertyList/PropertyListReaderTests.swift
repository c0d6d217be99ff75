import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

struct PropertyListReaderTests {
    /// Every byte in the deep run, every ninth in the plain one.
    private static let step = ProcessInfo.processInfo.environment["CORDON_DEEP"] == nil ? 9 : 1

    static let rich: PropertyListValue = .dictionary([
        "text": .string("a<b>&\"c\" é 😀"), "int": .integer(-5), "big": .integer(1 << 40), "real": .real(0.25),
        "yes": .boolean(true), "no": .boolean(false), "when": .date(Date(timeIntervalSince1970: 1_700_000_000)),
        "bytes": .data(Data((0..<100).map { UInt8($0) })),
        "list": .array([.string("x"), .array([]), .dictionary([:])]),
        "many": .array((0..<40).map { .integer($0) }),
    ])

    @Test(arguments: [PropertyList.Format.xml, .binary])
    func `what is written is read again`(format: PropertyList.Format) throws {
        let data =
            format == .xml ? XMLPropertyListWriter().document(Self.rich) : BinaryPropertyListWriter.document(Self.rich)
        let list = try PropertyList(reading: data)
        #expect(list.value == Self.rich)
        #expect(list.format == format)
    }

    @Test(arguments: [PropertyList.Format.xml, .binary])
    func `texts that are equal in another normal form stay two`(format: PropertyList.Format) throws {
        let value = PropertyListValue.array([.string("\u{E9}"), .string("e\u{301}"), .string("\r\n\r")])
        let data = format == .xml ? XMLPropertyListWriter().document(value) : BinaryPropertyListWriter.document(value)
        #expect(try PropertyList(reading: data).value == value)
    }

    @Test func `a signed profile is refused with what takes it out`() throws {
        let error = #expect(throws: AppToolsError.self) { try PropertyList(reading: Data([0x30, 0x82, 1, 0])) }
        #expect(error?.hint?.contains("signed") == true)
    }

    @Test(.enabled(if: Program.python != nil, "needs python3"))
    func `Python's reader agrees on both formats, and its writer on the XML bytes`() throws {
        let scratch = try Scratch()
        let xml = try scratch.file("a.plist", XMLPropertyListWriter().document(Self.rich))
        let binary = try scratch.file("b.plist", BinaryPropertyListWriter.document(Self.rich))
        let output = try Program.python(
            """
            import plistlib, sys
            a = plistlib.load(open(sys.argv[1], 'rb')); b = plistlib.load(open(sys.argv[2], 'rb'))
            print(a == b, a['int'], a['text'], plistlib.dumps(a, sort_keys=False) == open(sys.argv[1], 'rb').read())
            """, [xml.path, binary.path])
        #expect(output == "True -5 a<b>&\"c\" é 😀 True\n")
    }

    @Test(.enabled(if: Program.python != nil, "needs python3"))
    func `Python's binary lists are read`() throws {
        let scratch = try Scratch()
        let file = scratch.folder.appendingPathComponent("p.plist")
        _ = try Program.python(
            """
            import plistlib, sys, datetime
            v = {'a': [1, -1, 1.5, True, b'xyz', 'é'], 'd': datetime.datetime(2026, 1, 31, 8), 'n': {str(i): i for i in range(300)}}
            plistlib.dump(v, open(sys.argv[1], 'wb'), fmt=plistlib.FMT_BINARY)
            """, [file.path])
        let value = try PropertyList(contentsOf: file).value
        #expect(value["a"]?.array?[1] == .integer(-1))
        #expect(value["n"]?["299"] == .integer(299))
        #expect(value["d"] == PropertyListText.date("2026-01-31T08:00:00Z").map { .date($0) })
    }

    @Test(arguments: [
        "{ a = b; }", "", "<plist><dict><key>a</key></dict></plist>", "<plist><dict><key>a</key><true/>",
        "<plist><dict><key>a</key><true/><key>a</key><true/></dict></plist>", "<plist><integer>x</integer></plist>",
        "<!DOCTYPE plist [<!ENTITY x \"y\">]><plist><string>&x;</string></plist>",
        "<plist><string>&x;</string></plist>",
        "<plist><true/></plist><plist/>", "<plist><date>2026-13-01T00:00:00Z</date></plist>", "bplist00", "<plist/>",
        "<plist><string>\u{0}", "<?xml version=\"1.0\" encoding=\"UTF-16\"?><plist><true/></plist>",
    ])
    func `what is not a property list is refused`(text: String) {
        #expect(throws: AppToolsError.self) { try PropertyList(reading: Data(text.utf8)) }
    }

    @Test func `deep nesting is refused in both formats`() {
        let deep = (0..<200).reduce(PropertyListValue.boolean(true)) { value, _ in .array([value]) }
        #expect(throws: AppToolsError.self) { try PropertyList(reading: XMLPropertyListWriter().document(deep)) }
        #expect(throws: AppToolsError.self) { try PropertyList(reading: BinaryPropertyListWriter.document(deep)) }
    }

    @Test func `shared objects cannot grow without limit`() {
        // Thirty arrays, each naming the next one twice: a billion values in 200 bytes.
        var bytes = Data("bplist00".utf8)
        var offsets: [UInt8] = []
        for level in 0..<30 {
            offsets.append(UInt8(bytes.count))
            bytes += Data([0xA2, UInt8(level + 1), UInt8(level + 1)])
        }
        offsets.append(UInt8(bytes.count))
        bytes += Data([0x09])
        let table = UInt8(bytes.count)
        bytes += Data(offsets) + Data([0, 0, 0, 0, 0, 0, 1, 1]) + Data([0, 0, 0, 0, 0, 0, 0, 31])
        bytes += Data(count: 8) + Data([0, 0, 0, 0, 0, 0, 0, table])
        #expect(throws: AppToolsError.self) { try PropertyList(reading: bytes) }
    }

    @Test func `a damaged byte never traps`() {
        for good in [XMLPropertyListWriter().document(Self.rich), BinaryPropertyListWriter.document(Self.rich)] {
            for position in stride(from: 0, to: good.count, by: Self.step) {
                for value in [UInt8(0), 0x7F, 0xFF] {
                    var bad = good
                    bad[position] = value
                    _ = try? PropertyList(reading: bad)
                }
            }
            for length in stride(from: 0, to: good.count, by: 3 * Self.step) {
                _ = try? PropertyList(reading: good.prefix(length))
            }
        }
    }
}
