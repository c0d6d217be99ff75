import CordonScan
import Foundation
import Testing

/// Waivers, with their reasons, their end and their flaws.
struct WaiverTests {
    private func scan(_ comment: String, file: String = "") throws -> ScanReport {
        let folder = try ScannedFolder(["File.swift": "\(comment)\nUIPasteboard.general.string = text\n"])
        defer { folder.remove() }
        return folder.scan { $0.waivers = SourceScan.waivers(file, file: ".cordon-waivers") }
    }

    @Test(arguments: [
        "// cordon:allow pasteboard — the app's own version number",
        "/* cordon:allow pasteboard - the app's own version number */",
        "// cordon:allow share, pasteboard: the app's own version number",
        "// cordon:allow pasteboard until 2026-11-23 — the app's own version number",
    ])
    func `a waiver with a reason takes its finding away`(_ comment: String) throws {
        let report = try scan(comment)
        #expect(report.findings == [])
        #expect(report.waived.map(\.waiver) == ["the app's own version number"])
    }

    @Test func `a waiver behind the code is for its line alone`() throws {
        let folder = try ScannedFolder([
            "File.swift": """
            UIPasteboard.general.string = a // cordon:allow pasteboard — for a test
            UIPasteboard.general.string = b
            """
        ])
        defer { folder.remove() }
        let report = folder.scan()
        #expect(report.findings.map(\.line) == [2])
        #expect(report.waived.map(\.line) == [1])
    }

    @Test func `where a carriage return ends a line, a waiver behind the code is for its line, too`() throws {
        let folder = try ScannedFolder([
            "File.swift":
                "UIPasteboard.general.string = a // cordon:allow pasteboard — for a test\rUIPasteboard.general.string = b\r"
        ])
        defer { folder.remove() }
        #expect(folder.scan().findings.map(\.line) == [2])
    }

    @Test(arguments: [
        "func copy(_ text: String) {", "if isAllowed(text) {", "init(_ text: String) {", "outer: for x in list(y) {",
        "let v = if check(x) {",
    ])
    func `a waiver above a declaration or a condition is for its head, and not for what stands in its body`(
        _ head: String
    ) throws {
        func found(_ head: String) throws -> [String] {
            try ScannedFolder.found(
                "// cordon:allow pasteboard — for a test\n\(head)\n    UIPasteboard.general.string = text\n}")
        }
        #expect(try found(head) == ["1: waiver", "3: pasteboard"])
        for call in ["run(later) {", "Text(text)\n    .if(isOn) { view in", "text.do(f).map(g) {"] {
            #expect(try found(call) == [], "\(call)")
        }
    }

    @Test(arguments: [
        ("// cordon:allow pasteboard", "no reason"), ("// cordon:allow — because", "names no way out"),
        ("// cordon:allow pastebord — because", "\"pasteboard\" is one"),
        ("// cordon:allow pasteboard until soon — because", "YYYY-MM-DD"),
        ("// cordon:ignore pasteboard — because", "is not known"),
    ])
    func `a waiver that is wrong waives nothing and is told`(_ comment: String, _ told: String) throws {
        let report = try scan(comment)
        #expect(report.findings.contains { $0.way == "pasteboard" })
        #expect(report.findings.contains { $0.way == "waiver" && $0.message.contains(told) })
    }

    @Test func `a waiver that is over waives nothing and is told`() throws {
        let report = try scan("// cordon:allow pasteboard until 2026-11-22 — the app's own version number")
        #expect(report.findings.map(\.way) == ["waiver", "pasteboard"])
    }

    @Test func `a waiver that holds takes the place of one that is over`() throws {
        let report = try scan(
            "// cordon:allow pasteboard — for a test", file: "pasteboard File.swift until 2026-11-22 — for a test")
        #expect(report.findings.map { "\($0.path): \($0.way)" } == [".cordon-waivers: waiver"])
        #expect(report.waived.count == 1)
    }

    @Test func `a needless waiver is told`() throws {
        let report = try scan("// cordon:allow print — the app's own version number")
        #expect(report.findings.map(\.way) == ["waiver", "pasteboard"])
        #expect(report.findings.first?.message.contains("needless") == true)
    }

    @Test func `a file of waivers is for files and folders`() throws {
        #expect(try scan("", file: "# why\npasteboard File.swift until 2027-01-01 — for a test").findings == [])
        #expect(try scan("", file: "pasteboard File.swift").findings.map(\.way) == ["waiver", "pasteboard"])
        #expect(try scan("", file: "pasteboard Other/ — for a test").findings.map(\.way) == ["waiver", "pasteboard"])
    }

    @Test func `what looks like a waiver in a text is none`() throws {
        let report = try scan("let text = \"// cordon:allow pasteboard — no\"")
        #expect(report.findings.map(\.way) == ["pasteboard"])
    }
}
