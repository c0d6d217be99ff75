import CordonTestSupport
import Foundation
import Testing

/// `--json` of every app tool, run as a program beside the same command without it.
@Suite(
    .enabled(
        if: FileManager.default.isExecutableFile(atPath: ExplainScenarioTests.program.path), "needs the built program"))
struct ToolJSONTests {
    /// A folder with an app that has no code, an extension with a rule, and what the tools take besides.
    private final class Place {
        let folder: URL

        init() throws {
            folder = try TemporaryFolder.make()
            try write(
                "A.app/Info.plist",
                "<key>CFBundleIdentifier</key><string>a.b</string><key>CFBundleExecutable</key><string>A</string>")
            try write(
                "A.app/PlugIns/S.appex/Info.plist",
                """
                <key>CFBundleIdentifier</key><string>a.b.s</string><key>NSExtension</key><dict>
                <key>NSExtensionAttributes</key><dict><key>NSExtensionActivationRule</key>
                <string>ANY registeredTypeIdentifiers == "a"</string></dict></dict>
                """)
            try write("bad.mobileconfig", "<key>PayloadType</key><string>Configuration</string>")
            try write("Demo.xcodeproj/Info.plist", "")
            try write("Main/Info.plist", "<key>CFBundleIdentifier</key><string>a</string>")
            try "APP".write(to: folder.appendingPathComponent("text"), atomically: true, encoding: .utf8)
        }

        deinit { TemporaryFolder.remove(folder) }

        private func write(_ path: String, _ entries: String) throws {
            let url = folder.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try "<plist>\n<dict>\n\(entries)\n</dict>\n</plist>\n".write(to: url, atomically: true, encoding: .utf8)
        }

        /// Runs `cordon`, with the folder's path taken out of what it says.
        func run(_ words: [String]) throws -> (status: Int32, output: String, errors: String) {
            let result = try Program.run(ExplainScenarioTests.program.path, words, in: folder)
            func plain(_ data: Data) -> String {
                String(decoding: data, as: UTF8.self).replacing(folder.resolvingSymlinksInPath().path, with: "")
                    .replacing(folder.path, with: "")
            }
            return (result.status, plain(result.output), plain(result.errors))
        }
    }

    static let commands: [[String]] = [
        ["configure", "A.app"], ["configure", "A.app", "--check"], ["configure", "text"], ["configure", "none"],
        ["activation-rule", "A.app"], ["activation-rule", "A.app/PlugIns/S.appex/Info.plist", "--in-place"],
        ["activation-rule", "A.app/Info.plist"], ["activation-rule", "none"], ["icons", "A.app", "-o", "icons"],
        ["doctor", "A.app"], ["doctor", "A.app", "--fix"], ["doctor", "none"], ["guide", "."], ["guide", "A.app"],
        ["guide", "none"], ["patch", "--verify", "A.app"], ["patch", "--install", "A.app", "--resign"],
        ["patch", "--install", "none"], ["thin", "A.app", "--keep", "device"], ["thin", "text", "--keep", "device"],
        ["thin", "A.app"], ["sign", "A.app", "--adhoc", "--engine", "native"], ["sign", "text", "--engine", "native"],
        ["verify", "A.app"], ["verify", "text"], ["verify", "none"], ["verify", "A.app", "--anchors", "none"],
        ["profile", "lint", "bad.mobileconfig"], ["profile", "lint", "text"], ["wrap", "-i", "A.ipa"],
        // Wrong command lines.
        ["doctor"], ["thin", "A.app", "--keep", "both"],
    ]

    @Test(arguments: commands)
    func `every tool gives one JSON document with the facts of its text, when it fails too`(words: [String]) throws {
        let (first, second) = (try Place(), try Place())
        let text = try first.run(words)
        let json = try second.run(words + ["--json"])
        #expect(json.status == text.status, "\(words): \(text.errors) \(json.errors)")
        let document = try #require(
            try? JSONSerialization.jsonObject(with: Data(json.output.utf8), options: .fragmentsAllowed),
            "\(words): \(json.output)")
        guard let members = document as? [String: Any] else {
            #expect(document is [Any], "\(words)")
            return
        }
        if let error = members["error"] as? [String: Any] {
            #expect(error["status"] as? Int == Int(text.status) && text.status != 0, "\(words)")
            let message = (error["message"] as? String ?? "-").replacing(second.folder.path, with: "")
            #expect(text.errors.contains(message), "\(words): \(message) is not in \(text.errors)")
            return
        }
        // Each finding is a line of the text, and each line of that form a finding.
        let findings = members["findings"] as? [[String: Any]] ?? []
        let lines = Set(
            findings.map { finding in
                ["path", "severity", "code", "message"].map { finding[$0] as? String ?? "" }.joined(separator: ": ")
                    .replacing(second.folder.path, with: "")
            })
        let said = Set(
            (text.errors + text.output).split(separator: "\n").map(String.init).filter {
                $0.contains(/: (error|warning|note): [A-Z]{2}-/)
            })
        #expect(lines == said, "\(words)")
        let changed = (members["changed"] as? [String] ?? []).map { $0.replacing(second.folder.path, with: "") }
        for path in changed { #expect(text.output.contains(path), "\(words): \(path) is not in \(text.output)") }
    }

    @Test(
        .enabled(
            if: Program.find("clang") != nil && Program.find("ld64.lld-19") != nil, "needs clang and Debian's lld-19"))
    func `a refusal of the last bundle of an archive leaves the first as it is`() throws {
        let place = try Place()
        let products = place.folder.appendingPathComponent("X.xcarchive/Products/Applications")
        try FileManager.default.createDirectory(at: products, withIntermediateDirectories: true)
        for name in ["A.app", "B.app"] {
            try FileManager.default.copyItem(
                at: place.folder.appendingPathComponent("A.app"), to: products.appendingPathComponent(name))
        }
        let app = products.appendingPathComponent("A.app")
        try FileManager.default.removeItem(at: app.appendingPathComponent("PlugIns"))
        try "int getpid(void); int main(void) { return getpid(); }".write(
            to: place.folder.appendingPathComponent("m.c"), atomically: true, encoding: .utf8)
        try """
        --- !tapi-tbd
        tbd-version: 4
        targets: [ arm64-ios ]
        install-name: '/usr/lib/libSystem.B.dylib'
        exports:
          - targets: [ arm64-ios ]
            symbols: [ dyld_stub_binder, _getpid ]
        ...

        """.write(to: place.folder.appendingPathComponent("libSystem.tbd"), atomically: true, encoding: .utf8)
        try Program.succeed(
            Program.find("clang") ?? "", ["-target", "arm64-apple-ios16.0", "-c", "m.c", "-o", "m.o"], in: place.folder)
        let code = app.appendingPathComponent("A")
        try Program.succeed(
            Program.find("ld64.lld-19") ?? "",
            [
                "-arch", "arm64", "-platform_version", "ios", "16.0", "17.0", "-adhoc_codesign", "-headerpad", "0x400",
                "-o", code.path, "m.o", "libSystem.tbd",
            ], in: place.folder)
        let before = try Data(contentsOf: code)
        let refused = try place.run(["patch", "--install", "X.xcarchive", "--json"])
        #expect(refused.status == 3 && refused.output.contains("\"error\""), "\(refused)")
        #expect(try Data(contentsOf: code) == before)
        try FileManager.default.removeItem(at: products.appendingPathComponent("B.app"))
        #expect(try place.run(["patch", "--install", "X.xcarchive"]).status == 0)
        #expect(try Data(contentsOf: code) != before)
    }
}
