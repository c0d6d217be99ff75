import CordonAppTools
import Foundation

/// What every app tool prints: findings one a line, or as records with `--json` (TL-GN-03).
struct ToolReport: Encodable {
    /// What was noticed.
    var findings: [Finding] = []
    /// The files that were written, or with `--check` would be.
    var changed: [String] = []

    /// Prints findings as talk and changed files as data, or both as JSON.
    func write(json: Bool) throws {
        if json { return try Terminal.json(self) }
        for finding in findings { Terminal.talk(finding.description) }
        for path in changed { Terminal.data(path) }
    }

    /// The report with places as a person knows them.
    func shown(in package: AppPackage) -> ToolReport {
        ToolReport(findings: findings.map(package.shown), changed: changed.map(package.shown))
    }

    /// Fails with status 1 when there is an error among the findings.
    func failOnErrors() throws {
        let count = findings.count { $0.severity == .error }
        guard count == 0 else {
            throw CommandFailure(.notInWantedState, "\(count) \(count == 1 ? "error" : "errors") found")
        }
    }
}

extension CommandFailure {
    /// The failure with the exit status that belongs to the error's code (TL-GN-02).
    init(_ error: AppToolsError) {
        let status: ExitStatus =
            switch error.code {
            case .refused: .refused
            case .unwritable: .writeFailed
            case .usage: .usage
            default: .badInput
            }
        self.init(status, error.description, hint: error.hint)
    }
}

/// Runs tool work and turns its errors into what a terminal shows.
func reporting<Value>(_ work: () throws(AppToolsError) -> Value) throws -> Value {
    do { return try work() } catch { throw CommandFailure(error) }
}

/// The same for work that waits.
func reporting<Value>(_ work: () async throws(AppToolsError) -> Value) async throws -> Value {
    do { return try await work() } catch { throw CommandFailure(error) }
}

/// Writes planned changes and then removes what they make superfluous, or with `isCheck` only lists both and says that
/// the wanted state is not reached.
func apply(
    _ changes: [FileChange], removing removals: [URL] = [], in package: AppPackage? = nil, to report: inout ToolReport,
    isCheck: Bool, json: Bool
) throws {
    try reporting { () throws(AppToolsError) in try AtomicWriter.check(changes) }
    if isCheck {
        report.changed = changes.filter { !$0.isInPlace }.map(\.url.path)
    } else {
        report.changed = try reporting { () throws(AppToolsError) in try AtomicWriter.write(changes) }.map(\.path)
        for url in removals where (try? FileManager.default.removeItem(at: url)) == nil {
            throw CommandFailure(.writeFailed, "\(url.path): cannot be removed")
        }
    }
    report.changed += removals.map(\.path)
    if let package {
        if !isCheck { try reporting { () throws(AppToolsError) in try package.save() } }
        report = report.shown(in: package)
    }
    try report.write(json: json)
    if isCheck, !report.changed.isEmpty {
        throw CommandFailure(.notInWantedState, "\(report.changed.count) of the files would change")
    }
}
