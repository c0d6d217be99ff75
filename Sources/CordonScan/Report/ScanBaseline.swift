/// Findings that were there when a project began to scan; they are told apart from new ones.
package struct ScanBaseline: Sendable, Codable {
    /// One finding, known by its code and not by its line.
    package struct Entry: Sendable, Hashable, Codable {
        package let path: String
        package let way: String
        package let fingerprint: String
    }

    /// The form of the file.
    package var version = 1
    package var findings: [Entry]

    /// The baseline of a report: what it found, and what its own baseline had and is still there.
    package init(of report: ScanReport) {
        findings = (report.findings + report.known).filter { $0.way != "waiver" }.map(Self.entry)
    }

    static func entry(_ finding: ScanFinding) -> Entry {
        Entry(path: finding.path, way: finding.way, fingerprint: finding.fingerprint)
    }

    /// Takes what it has out of a report; each entry stands for one finding.
    package func apply(to report: inout ScanReport) {
        var left: [Entry: Int] = [:]
        for entry in findings { left[entry, default: 0] += 1 }
        var open: [ScanFinding] = []
        for finding in report.findings {
            let entry = Self.entry(finding)
            if let count = left[entry], count > 0 {
                left[entry] = count - 1
                report.known.append(finding)
            } else {
                open.append(finding)
            }
        }
        report.findings = open
        report.mended = left.values.reduce(0, +)
    }
}
