import CordonScan
import Foundation
import Testing

/// Reports: SARIF, baselines.
struct ReportTests {
    private func json(_ value: some Encodable) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: JSONEncoder().encode(value)) as? [String: Any])
    }

    @Test func `the SARIF log has what the schema of 2.1.0 wants`() throws {
        let folder = try ScannedFolder([
            "a b/ü:1.swift": "UIPasteboard.general.string = x\nShareLink(item: x) // cordon:allow share — for a test\n",
            "Info.plist": "bplist00",
        ])
        defer { folder.remove() }
        let log = try json(SarifLog(folder.scan(), version: "1.0"))
        #expect(log["version"] as? String == "2.1.0")
        #expect(log["$schema"] as? String != nil)
        let run = try #require((log["runs"] as? [[String: Any]])?.first)
        let driver = try #require((run["tool"] as? [String: Any])?["driver"] as? [String: Any])
        #expect(driver["name"] as? String == "cordon scan")
        let rules = try #require(driver["rules"] as? [[String: Any]]).map { $0["id"] as? String }
        #expect(Set(rules).count == rules.count)
        #expect(run["columnKind"] as? String == "unicodeCodePoints")
        let results = try #require(run["results"] as? [[String: Any]])
        #expect(results.count == 2)
        for result in results {
            let index = try #require(result["ruleIndex"] as? Int)
            #expect(rules[index] == result["ruleId"] as? String)
            #expect(["error", "warning", "note"].contains(result["level"] as? String))
            #expect((result["message"] as? [String: Any])?["text"] as? String != nil)
            let place = try #require(
                (result["locations"] as? [[String: Any]])?.first?["physicalLocation"] as? [String: Any])
            let uri = try #require((place["artifactLocation"] as? [String: Any])?["uri"] as? String)
            #expect(uri == "a%20b/%C3%BC%3A1.swift")
            let region = try #require(place["region"] as? [String: Any])
            #expect((region["startLine"] as? Int ?? 0) >= 1 && (region["startColumn"] as? Int ?? 0) >= 1)
            #expect((result["partialFingerprints"] as? [String: String])?.isEmpty == false)
        }
        let suppressed = results.compactMap { $0["suppressions"] as? [[String: Any]] }
        #expect(suppressed.first?.first?["justification"] as? String == "for a test")
        let invocation = try #require((run["invocations"] as? [[String: Any]])?.first)
        #expect(invocation["executionSuccessful"] as? Bool == false)
        #expect((invocation["toolExecutionNotifications"] as? [Any])?.count == 1)
    }

    @Test func `a baseline holds for code that moved, and not for more of the same`() throws {
        let folder = try ScannedFolder(["File.swift": "UIPasteboard.general.string = x\n"])
        defer { folder.remove() }
        let stored = try JSONEncoder().encode(ScanBaseline(of: folder.scan()))
        let baseline = try JSONDecoder().decode(ScanBaseline.self, from: stored)
        try folder.write(
            Data(
                "\n\n  UIPasteboard.general.string  =  x\nUIPasteboard.general.string = x\nUIPasteboard.general.string = y\n"
                    .utf8), "File.swift")
        var report = folder.scan()
        baseline.apply(to: &report)
        #expect(report.known.count == 1)
        #expect(report.findings.map(\.line) == [4, 5])
        try folder.write(Data("let nothing = 1\n".utf8), "File.swift")
        report = folder.scan()
        baseline.apply(to: &report)
        #expect(report.mended == 1)
        #expect(report.findings == [])
    }

    @Test func `every way out says what leaves and which call of Cordon guards it`() {
        for way in SourceScan.ways { #expect(!way.title.isEmpty && way.remedy.count > 20) }
    }
}
