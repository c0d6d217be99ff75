internal import Foundation

/// A report in the form that code hosts and IDEs read: SARIF 2.1.0.
package struct SarifLog: Encodable {
    private enum CodingKeys: String, CodingKey {
        case schema = "$schema"
        case version, runs
    }

    private let schema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
    private let version = "2.1.0"
    private let runs: [Run]

    struct Text: Encodable { let text: String }

    struct Run: Encodable {
        let tool: Tool
        let columnKind = "unicodeCodePoints"
        let originalUriBaseIds = ["SRCROOT": Base(description: Text(text: "the folder that was scanned"))]
        let invocations: [Invocation]
        let results: [Result]
    }

    struct Base: Encodable { let description: Text }
    struct Tool: Encodable { let driver: Driver }

    struct Driver: Encodable {
        let name = "cordon scan"
        let version: String
        let rules: [Rule]
    }

    struct Rule: Encodable {
        let id: String
        let name: String
        let shortDescription: Text
        let fullDescription: Text
        let help: Text
    }

    struct Invocation: Encodable {
        let executionSuccessful: Bool
        let toolExecutionNotifications: [Notification]
    }

    struct Notification: Encodable {
        let level: String
        let message: Text
        let locations: [Place]
    }

    struct Place: Encodable { let physicalLocation: Physical }

    struct Physical: Encodable {
        let artifactLocation: Artifact
        let region: Region?
    }

    struct Artifact: Encodable {
        let uri: String
        let uriBaseId = "SRCROOT"
    }

    struct Region: Encodable {
        let startLine: Int
        let startColumn: Int
    }

    struct Suppression: Encodable {
        let kind: String
        let status = "accepted"
        let justification: String
    }

    struct Result: Encodable {
        let ruleId: String
        let ruleIndex: Int
        let level: String
        let message: Text
        let locations: [Place]
        let partialFingerprints: [String: String]
        let baselineState: String?
        let suppressions: [Suppression]?
    }

    /// The report of a scan by a version of the tool.
    package init(_ report: ScanReport, version: String) {
        let ids = WayOut.allCases.map(\.rawValue) + ["waiver"]
        var rules = WayOut.allCases.map { way in
            Rule(
                id: way.rawValue, name: way.title, shortDescription: Text(text: way.title),
                fullDescription: Text(text: way.leaves),
                help: Text(text: way.remedy))
        }
        rules.append(
            Rule(
                id: "waiver", name: "waiver", shortDescription: Text(text: "waiver"),
                fullDescription: Text(text: "A waiver that is wrong, over or needless."),
                help: Text(text: "Mend or remove it.")))
        let notices = report.unread.map {
            Notification(
                level: "error", message: Text(text: "not read: \($0.reason)"), locations: [Self.place($0.path, nil)])
        }
        let hasBaseline = !report.known.isEmpty
        let results =
            report.findings.map { Self.result($0, ids, hasBaseline ? "new" : nil) }
            + report.known.map { Self.result($0, ids, "unchanged") }
            + report.waived.map { Self.result($0, ids, hasBaseline ? "new" : nil) }
        runs = [
            Run(
                tool: Tool(driver: Driver(version: version, rules: rules)),
                invocations: [
                    Invocation(executionSuccessful: report.unread.isEmpty, toolExecutionNotifications: notices)
                ], results: results)
        ]
    }

    private static func result(_ finding: ScanFinding, _ ids: [String], _ state: String?) -> Result {
        Result(
            ruleId: finding.way, ruleIndex: ids.firstIndex(of: finding.way) ?? 0, level: finding.severity.rawValue,
            message: Text(text: "\(finding.message). To guard it: \(finding.remedy)."),
            locations: [place(finding.path, Region(startLine: finding.line, startColumn: finding.column))],
            partialFingerprints: ["cordonScan/v1": finding.fingerprint], baselineState: state,
            suppressions: finding.waiver.map { [Suppression(kind: "inSource", justification: $0)] })
    }

    private static func place(_ path: String, _ region: Region?) -> Place {
        var allowed = CharacterSet.urlPathAllowed
        allowed.remove(charactersIn: ":")
        let uri = path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path
        return Place(physicalLocation: Physical(artifactLocation: Artifact(uri: uri), region: region))
    }
}
