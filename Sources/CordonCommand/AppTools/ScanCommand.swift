import ArgumentParser
import CordonAppTools
import CordonScan
import Foundation

/// `cordon scan`: lists the ways by which data leaves an app unasked, from its sources.
struct ScanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan", abstract: "List every unguarded way out in an app's sources.",
        discussion: """
            Reads Swift, Objective-C, C and C++, property lists and the build settings that make them, entitlements and interface files. Nothing is written, built or run. Ends with status 1 \
            when something is found that --fail-on counts, and with 3 when a file could not be read.

            A comment waives what people decided to leave: // cordon:allow pasteboard — copies the app's own version number

            Example: cordon scan Sources --sarif > scan.sarif
            """)

    /// From which severity on a finding fails the run.
    enum Threshold: String, ExpressibleByArgument, CaseIterable {
        case note, warning, error, never

        var severity: ScanFinding.Severity? { ScanFinding.Severity(rawValue: rawValue) }
    }

    @Argument(help: "The folder of the app's sources, or one file.")
    var path: String?

    @Flag(help: "Print one JSON document.")
    var json = false

    @Flag(help: "Print a SARIF 2.1.0 log.")
    var sarif = false

    @Option(help: "The lowest severity that fails the run.")
    var failOn: Threshold = .warning

    @Option(help: "A file of known findings, which do not fail the run.")
    var baseline: String?

    @Option(help: "Write the findings to this file, as a baseline.")
    var writeBaseline: String?

    @Option(help: "A file of waivers, by default .cordon-waivers in the folder.")
    var waivers: String?

    @Flag(help: "Also read dependencies that lie in the folder.")
    var dependencies = false

    @Flag(help: "Also read tests.")
    var tests = false

    @Flag(help: "List the known ways out, and the guard for each.")
    var ways = false

    func validate() throws {
        if path == nil, !ways { throw ValidationError("Missing expected argument '<path>'") }
        if json, sarif { throw ValidationError("--json and --sarif exclude each other") }
    }

    func run() throws {
        if ways { return try listWays() }
        let root = path ?? "."
        guard FileManager.default.fileExists(atPath: root) else {
            throw CommandFailure(.badInput, "\(root): there is no such folder or file")
        }
        var options = SourceScan.Options(today: Self.today())
        options.readsDependencies = dependencies
        options.readsTests = tests
        options.waivers = try readWaivers(root)
        let known = try baseline.map { try Self.readBaseline($0) }
        var progress = Progress("scan")
        var report = SourceScan(root, options: options).run { progress.show($0, of: $1) }
        progress.end()
        known?.apply(to: &report)
        if let writeBaseline { try Self.write(ScanBaseline(of: report), to: writeBaseline) }
        try show(report)
        let count = failOn.severity.map { report.count(from: $0) } ?? 0
        if count > 0, writeBaseline == nil {
            throw CommandFailure(
                .notInWantedState, "\(count) \(count == 1 ? "finding" : "findings") to guard or to waive",
                hint:
                    "docs/prepare-an-app.md says what counts as a guard; cordon scan --ways lists the guard of each way"
            )
        }
        // An empty report would pass for a clean one.
        if report.files == 0, report.unread.isEmpty {
            throw CommandFailure(
                .badInput, "\(root): no Swift, Objective-C, C or C++, property list or interface file was found",
                hint: "give the folder of the app's sources")
        }
        if let first = report.unread.first {
            throw CommandFailure(
                .badInput,
                "the scan is not whole: \(report.unread.count) not read, first \(first.path): \(first.reason)")
        }
    }

    private func show(_ report: ScanReport) throws {
        if sarif { return try Terminal.json(SarifLog(report, version: CordonVersion.current)) }
        if json { return try Terminal.json(report) }
        for finding in report.findings { Terminal.data("\(finding.summary); guard: \(finding.remedy)") }
        for omission in report.unread { Terminal.talk("not read: \(omission.path): \(omission.reason)") }
        for omission in report.skipped { Terminal.talk("left out: \(omission.path): \(omission.reason)") }
        var parts = ["\(report.findings.count) found", "\(report.guarded) guarded", "\(report.waived.count) waived"]
        if !report.known.isEmpty || report.mended > 0 {
            parts.append("\(report.known.count) in the baseline, \(report.mended) of it gone")
        }
        func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }
        Terminal.talk(
            "\(parts.joined(separator: ", ")); \(count(report.files, "file")), \(count(report.lines, "line"))")
    }

    private func listWays() throws {
        struct Way: Encodable {
            let name: String
            let title: String
            let guardedBy: String
        }
        let ways = SourceScan.ways.map { Way(name: $0.name, title: $0.title, guardedBy: $0.remedy) }
        if json { return try Terminal.json(ways) }
        for way in ways { Terminal.data("\(way.name): \(way.title): \(way.guardedBy)") }
    }

    private func readWaivers(_ root: String) throws -> [ScanWaiver] {
        let place = waivers ?? (root as NSString).appendingPathComponent(".cordon-waivers")
        guard let data = FileManager.default.contents(atPath: place) else {
            if waivers != nil { throw CommandFailure(.badInput, "\(place): the file of waivers cannot be read") }
            return []
        }
        let name = waivers ?? ".cordon-waivers"
        return SourceScan.waivers(String(decoding: data, as: UTF8.self), file: name)
    }

    private static func readBaseline(_ place: String) throws -> ScanBaseline {
        guard let data = FileManager.default.contents(atPath: place) else {
            throw CommandFailure(.badInput, "\(place): the baseline cannot be read")
        }
        guard let baseline = try? JSONDecoder().decode(ScanBaseline.self, from: data), baseline.version == 1 else {
            throw CommandFailure(
                .badInput, "\(place): is not a baseline of cordon scan", hint: "--write-baseline makes one")
        }
        return baseline
    }

    private static func write(_ baseline: ScanBaseline, to place: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let change = FileChange(URL(fileURLWithPath: place), try encoder.encode(baseline) + Data("\n".utf8))
        _ = try reporting { () throws(AppToolsError) in try AtomicWriter.write([change]) }
    }

    /// The day of the machine, for waivers that end.
    private static func today() -> String {
        Date.now.formatted(.iso8601.year().month().day())
    }
}
