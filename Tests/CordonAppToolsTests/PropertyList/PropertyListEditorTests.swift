import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

struct PropertyListEditorTests {
    static let sample = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
          <!-- names first -->
          <key>zebra</key>
          <array>
            <string>one</string> <!-- stays with one -->
            <string>two</string>
          </array>
          <key>empty</key> <array/>
          <key>inline</key><dict><key>a</key><true/></dict>
          <key>commented</key>
          <dict>
            <!-- nothing yet -->
          </dict>
        </dict>
        </plist>

        """

    @Test(arguments: ["\n", "\r\n"])
    func `inserted lines are the only change`(lineEnd: String) throws {
        let text = Self.sample.replacingOccurrences(of: "\n", with: lineEnd)
        var editor = try PropertyListEditor(reading: Data(text.utf8))
        try editor.insert(.string("one & a half"), into: ["zebra"], at: 1)
        try editor.append(.string("three"), to: ["zebra"])
        try editor.set(.boolean(true), at: ["new"])
        let edited = String(decoding: editor.data, as: UTF8.self)
        let before = text.components(separatedBy: lineEnd)
        var added: [String] = []
        let kept = edited.components(separatedBy: lineEnd).filter { line in
            if before.contains(line) { return true }
            added.append(line)
            return false
        }
        #expect(kept == before)
        #expect(
            added == [
                "    <string>one &amp; a half</string>", "    <string>three</string>", "  <key>new</key>", "  <true/>",
            ])
        #expect(try PropertyList(reading: editor.data).value == editor.value)
    }

    @Test(arguments: ["\n", "\r\n"])
    func `a text of several lines keeps the file's line ends, and a carriage return of its own stays one`(
        lineEnd: String
    ) throws {
        let text = [
            "<plist>", "<dict>", "\t<key>rule</key>", "\t<string>a ||", "b &#13;", "c</string>", "</dict>", "</plist>",
            "",
        ]
        .joined(separator: lineEnd)
        var editor = try PropertyListEditor(reading: Data(text.utf8))
        #expect(editor.value["rule"]?.string == "a ||\nb \r\nc")
        try editor.set(.string("a ||\nb \r\nc || d"), at: ["rule"])
        #expect(editor.data == Data(text.replacingOccurrences(of: "c</", with: "c || d</").utf8))
        #expect(try PropertyList(reading: editor.data).value == editor.value)
    }

    @Test func `a comment on the line stays with its element`() throws {
        var editor = try PropertyListEditor(reading: Data(Self.sample.utf8))
        try editor.insert(.string("x"), into: ["zebra"], at: 1)
        #expect(
            String(decoding: editor.data, as: UTF8.self).contains("<!-- stays with one -->\n    <string>x</string>\n"))
    }

    @Test func `what is replaced can stay as a comment`() throws {
        var editor = try PropertyListEditor(
            reading: Data("<plist>\n<dict>\n  <key>a</key>\n  <string>x--y---></string>\n</dict>\n</plist>\n".utf8))
        try editor.keepAsComment(at: ["a"])
        try editor.set(.string("new"), at: ["a"])
        #expect(
            String(decoding: editor.data, as: UTF8.self)
                == "<plist>\n<dict>\n  <key>a</key>\n  <string>new</string>\n  <!-- <string>x- -y- - -></string> -->\n</dict>\n</plist>\n"
        )
        #expect(try PropertyList(reading: editor.data).value["a"]?.string == "new")
        var binary = try PropertyListEditor(reading: BinaryPropertyListWriter.document(.dictionary(["a": .integer(1)])))
        #expect(throws: AppToolsError(.unsupported, "")) { try binary.keepAsComment(at: ["a"]) }
    }

    @Test func `empty, inline and commented containers take children`() throws {
        var editor = try PropertyListEditor(reading: Data(Self.sample.utf8))
        try editor.append(.string("x"), to: ["empty"])
        try editor.set(.integer(3), at: ["inline", "b"])
        try editor.set(.string("y"), at: ["commented", "k"])
        try editor.set(.dictionary(["p": .array([.data(Data(repeating: 7, count: 90))])]), at: ["deep"])
        let read = try PropertyList(reading: editor.data).value
        #expect(read == editor.value)
        #expect(read["empty"] == .array([.string("x")]))
        #expect(read["inline"]?["b"] == .integer(3))
        #expect(String(decoding: editor.data, as: UTF8.self).contains("<!-- nothing yet -->"))
    }

    @Test func `removing what was added gives the first bytes back`() throws {
        var editor = try PropertyListEditor(reading: Data(Self.sample.utf8))
        try editor.set(.dictionary(["a": .real(1.5)]), at: ["added"])
        try editor.append(.string("three"), to: ["zebra"])
        try editor.remove(at: ["added"])
        try editor.remove(at: ["zebra", 2])
        #expect(editor.data == Data(Self.sample.utf8))
        #expect(!editor.isChanged)
    }

    @Test func `a binary list that is not changed keeps its bytes`() throws {
        let binary = try PropertyListSerialization.data(
            fromPropertyList: ["b": [1, 2.5, "ü"], "a": true] as [String: Any], format: .binary, options: 0)
        var editor = try PropertyListEditor(reading: binary)
        #expect(editor.format == .binary)
        try editor.set(.boolean(true), at: ["a"])
        #expect(editor.data == binary)
        try editor.set(.boolean(false), at: ["a"])
        let again = try PropertyListSerialization.propertyList(from: editor.data, format: nil) as? [String: Any]
        #expect(again?["a"] as? Bool == false)
        #expect((again?["b"] as? [Any])?.last as? String == "ü")
    }

    @Test(.seeded(as: 1), arguments: 0..<60)
    func `random edits keep text and value in step`(number: UInt64) throws {
        var random = SeededGenerator(TestSeed.current &+ number)
        var editor = try PropertyListEditor(reading: Data(Self.sample.utf8))
        for step in 0..<12 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: try editor.set(.string("<\(step)>"), at: [.key("k\(Int.random(in: 0..<4, using: &random))")])
            case 1: try editor.append(.integer(Int64(step)), to: ["zebra"])
            case 2: try editor.remove(at: ["zebra", .index(Int.random(in: 0..<5, using: &random))])
            default: try editor.set(.array([.boolean(true)]), at: ["commented", .key("c\(step)")])
            }
            #expect(try PropertyList(reading: editor.data).value == editor.value)
        }
    }
}
