import ArgumentParser
import CordonAppTools
import Foundation

/// `cordon thin`: drops slices that a store or a device does not want.
struct ThinCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thin", abstract: "Drop processor slices from code files.",
        discussion: """
            Slices are chosen by platform or processor and copied as they are. A file that would keep none is refused.

            Example: cordon thin Demo.app --keep device
            """)

    enum Side: String, ExpressibleByArgument, CaseIterable {
        case device
        case simulator
    }

    @Argument(help: "An app, a framework, another folder with code, or one file.")
    var path: String

    @Option(help: "Keep code for: device or simulator.")
    var keep: Side?

    @Option(help: "Keep only this processor, for example arm64. May repeat.")
    var keepArch: [String] = []

    @Option(help: "Drop this processor, for example x86_64. May repeat.")
    var removeArch: [String] = []

    @Flag(help: "Keep the fat header when one slice is left.")
    var keepFat = false

    @Flag(help: "With --keep, drop the other libraries of an xcframework.")
    var slim = false

    @Flag(help: "Only say what would change; status 1 when something would.")
    var check = false

    @Flag(help: "Print one JSON document.")
    var json = false

    func run() throws {
        var request = ThinRequest(
            side: keep.flatMap { ThinRequest.Side(rawValue: $0.rawValue) }, kept: try keepArch.map(cpu),
            removed: try removeArch.map(cpu), keepsFat: keepFat)
        request.slims = slim
        guard request.side != nil || !request.kept.isEmpty || !request.removed.isEmpty else {
            throw CommandFailure(.usage, "say what to keep or drop", hint: "cordon thin \(path) --keep device")
        }
        let plan = try reporting { () throws(AppToolsError) in try Thinner.plan(URL(fileURLWithPath: path), request) }
        var report = ToolReport(findings: plan.findings)
        try apply(plan.changes, to: &report, isCheck: check, json: json)
        for folder in plan.removals where (try? FileManager.default.removeItem(at: folder)) == nil {
            throw CommandFailure(.writeFailed, "\(folder.path): cannot be removed")
        }
    }

    private func cpu(_ name: String) throws -> CPUType {
        guard let cpu = CPUType(named: name) else { throw CommandFailure(.usage, "no processor is called \(name)") }
        return cpu
    }
}
