import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

struct BuildSettingsFileTests {
    @Test(arguments: ["\n", "\r\n"])
    func `a file of build settings is read line by line, whatever ends a line`(lineEnd: String) throws {
        let scratch = try Scratch()
        let base = try scratch.file("base.xcconfig", "TEAM = ABCDE12345 // the team\(lineEnd)FLAGS = -a\(lineEnd)")
        let lines = [
            "#include \"\(base.path)\"", "// remark\u{2028}of two parts", "", "PREFIX = $(TEAM).",
            "FLAGS = $(inherited) $(TEAM)",
            "FLAGS = ${inherited} -b", "OTHER = $(inherited) $(UNKNOWN)",
        ]
        let file = try scratch.file("inside/app.xcconfig", lines.joined(separator: lineEnd))
        let settings = try BuildSettingsFile(contentsOf: file).settings
        #expect(settings == ["TEAM": "ABCDE12345", "PREFIX": "ABCDE12345.", "FLAGS": "-a ABCDE12345 -b"])
    }

    @Test func `a line that is no setting is told by its number`() throws {
        let scratch = try Scratch()
        let file = try scratch.file("app.xcconfig", "A = b\r\nwhat\r\n")
        let error = #expect(throws: AppToolsError.self) { try BuildSettingsFile(contentsOf: file) }
        #expect(error?.place.hasSuffix("app.xcconfig: line 2") == true)
    }
}
