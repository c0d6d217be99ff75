/// What a scan found, and what it could not read.
package struct ScanReport: Sendable, Codable {
    /// A file or folder that was left out, and why.
    package struct Omission: Sendable, Hashable, Codable {
        package let path: String
        package let reason: String

        package init(path: String, reason: String) {
            self.path = path
            self.reason = reason
        }
    }

    /// Ways out that are neither guarded nor waived, by path and place.
    package var findings: [ScanFinding] = []
    /// Those that a waiver accepts.
    package var waived: [ScanFinding] = []
    /// Those that the baseline has.
    package var known: [ScanFinding] = []
    /// How many entries of the baseline are gone.
    package var mended = 0
    /// How many ways out stand behind a guard.
    package var guarded = 0
    package var files = 0
    package var lines = 0
    /// What could not be read, so that the report is not whole.
    package var unread: [Omission] = []
    /// What was left out on purpose: dependencies, tests, links to what was read already.
    package var skipped: [Omission] = []

    package init() {}

    /// How many findings are at least this grave.
    package func count(from severity: ScanFinding.Severity) -> Int { findings.count { $0.severity >= severity } }
}
