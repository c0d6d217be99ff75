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

    @Flag(help: "Remove headers, modules and stray archives from Frameworks, which the store refuses.")
    var clean = false

    @Flag(help: "Sign the bundles again whose content changes, when they were signed before.")
    var resign = false

    @OptionGroup var signer: IdentityOptions

    @Flag(help: "Only say what would change; status 1 when something would.")
    var check = false

    @Flag(help: "Print one JSON document.")
    var json = false

    func run() throws {
        var request = ThinRequest(
            side: keep.flatMap { ThinRequest.Side(rawValue: $0.rawValue) }, kept: try keepArch.map(cpu),
            removed: try removeArch.map(cpu), keepsFat: keepFat)
        request.slims = slim
        request.cleans = clean
        guard request.side != nil || !request.kept.isEmpty || !request.removed.isEmpty || clean else {
            throw CommandFailure(.usage, "say what to keep or drop", hint: "cordon thin \(path) --keep device")
        }
        let url = URL(fileURLWithPath: path)
        let plan = try reporting { () throws(AppToolsError) in try Thinner.plan(url, request) }
        var report = ToolReport(findings: plan.findings)
        var changes = plan.changes
        if resign, !plan.unsealed.isEmpty {
            let signed = try reporting { () throws(AppToolsError) in
                try CodeSigner(signer.signerOptions()).plan(url, over: plan.changes, removing: plan.removals)
            }
            changes = signed.changes
            report.findings = plan.findings.filter { $0.code != "TH-SEAL" } + signed.findings
        }
        try apply(changes, removing: plan.removals, to: &report, isCheck: check, json: json)
    }

    private func cpu(_ name: String) throws -> CPUType {
        guard let cpu = CPUType(named: name) else { throw CommandFailure(.usage, "no processor is called \(name)") }
        return cpu
    }
}
