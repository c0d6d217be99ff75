internal import ArgumentParser
internal import CordonIdentity
internal import CordonProtocol
import Foundation

/// `cordon audit verify`: chain, checkpoints and wipe receipts of an exported log (SRV-CI-092).
struct AuditVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check an exported audit log and the receipts in it, offline.",
        discussion: """
            Exit status 0 when the log is sound, 1 when anything in it was edited, removed, moved, cut or forged, 3 when \
            the file is not an audit log. Without --root-key the log is checked only against the keys that it contains. An \
            exported history will do as well: then the log must vouch for every line before it.

            Example: cordon audit verify audit.jsonl --root-key ROOT-KEY --against last-month.jsonl
            """)

    @Argument(help: "The export; - is standard input.")
    var export: String

    // A thumbprint may begin with a dash. `--pin` is the former name.
    @Option(
        name: [.customLong("root-key"), .customLong("pin")], parsing: .unconditional,
        help: ArgumentHelp(
            "The thumbprint of the service's root key, as its discovery document names it.", valueName: "thumbprint"))
    var pin: String?

    @Option(
        help: ArgumentHelp(
            "An earlier export: the log must contain everything up to its checkpoint. May repeat.",
            valueName: "earlier-export"))
    var against: [String] = []

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        try RootKeyPin.check(pin)
        var earlier: [AuditCheckpoint] = []
        for file in against {
            let report = try check(file, earlier: [])
            guard report.isSound, let checkpoint = report.checkpoint else {
                throw CommandFailure(
                    .badInput, "\(file): the earlier export is not sound itself",
                    hint: "Verify it alone first: cordon audit verify \(file)")
            }
            earlier.append(checkpoint)
        }
        let report = try check(export, earlier: earlier)
        if json {
            try Terminal.json(report)
        } else {
            printReport(report)
        }
        guard report.isSound else {
            let count = report.faults.count
            throw CommandFailure(
                .notInWantedState, "\(export): \(count == 1 ? "one fault" : "\(count) faults")",
                hint: Self.hint(to: report, isPinned: pin != nil))
        }
    }

    /// What to do about a log that is not sound, by what is wrong with it.
    private static func hint(to report: AuditReport, isPinned: Bool) -> String {
        let codes = Set(report.faults.map(\.code))
        // A torn line is the last one: nothing else can follow it.
        let isTorn = codes.contains(.unsealed) && codes.isSubset(of: [.unsealed, .unreadable])
        if isTorn, report.faults.count <= 2 {
            return "The export breaks off: fetch it again. What is there follows from record to record."
        }
        if codes == [.wrongSeal], isPinned {
            return
                "Records follow one another. Compare --root-key with the service's root key: another key signed the end."
        }
        return "Compare with an earlier export or a backup; the log was changed after it was written."
    }

    private func check(_ file: String, earlier: [AuditCheckpoint]) throws -> AuditReport {
        var verifier = AuditLogVerifier(pin: pin, earlier: earlier)
        var ahead = HistoryAhead()
        try ExportLines.read(file) { if !ahead.takes($0) { verifier.read($0) } }
        let report = verifier.report()
        guard report.records > 0 || report.checkpoint != nil else {
            throw CommandFailure(
                .badInput, "\(file): not an exported audit log", hint: "An export is JSON Lines, one record in each.")
        }
        if report.isSound, let flaw = ahead.flaw {
            throw CommandFailure(.notInWantedState, "\(file): \(flaw)", hint: "Export the history again.")
        }
        return report
    }

    private func printReport(_ report: AuditReport) {
        for fault in report.faults {
            let place = fault.line > 0 ? ":\(fault.line)" : ""
            Terminal.data("\(export)\(place): error: \(fault.code.rawValue): \(fault.reason)")
        }
        guard report.isSound else { return }
        let root = report.rootKeyThumbprint ?? "none"
        Terminal.data(
            "\(Style.green("sound")): \(report.records) records of \(report.tenant?.rawValue ?? "no organisation"), "
                + "\(report.receipts) wipe receipt\(report.receipts == 1 ? "" : "s"), root key \(root)"
                + (report.isPinned ? " (pinned)" : " (not pinned: compare it yourself, or use --root-key)"))
    }
}
