import ArgumentParser
import CordonAppTools
import CordonBase
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

    @Argument(
        help: "An .app, .appex, .framework, .xcframework, .xcarchive, .ipa, another folder with code, or one file.")
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

    @Flag(help: "Only report what would change; status 1 when something would.")
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
        // Debug symbols and libraries outside the app are thinned too, except in an archive that is packed.
        guard AppPackage.isArchive(url) else {
            let work = try work(url, request, signing: try AppPackage(opening: url).bundles)
            var report = ToolReport(findings: work.findings)
            return try apply(work.changes, removing: work.removals, to: &report, isCheck: check, json: json)
        }
        let package = try PackageArgument.parse([path])
        try package.apply(isCheck: check, json: json) { try work($0, request, signing: [$0]) }
    }

    /// - Parameter bundles: Asked for only where a seal has to be made anew: an xcframework may hold what cannot be signed.
    private func work(
        _ root: URL, _ request: ThinRequest, signing bundles: @autoclosure () throws(AppToolsError) -> [URL]
    ) throws -> BundleWork {
        try reporting { () throws(AppToolsError) in
            let plan = try Thinner.plan(root, request)
            var work = BundleWork(changes: plan.changes, removals: plan.removals, findings: plan.findings)
            guard resign, !plan.unsealed.isEmpty else { return work }
            work.findings.removeAll { $0.code == "TH-SEAL" }
            for bundle in try bundles() {
                let inside = work.changes.filter { $0.url.path.lies(below: bundle.path) || $0.url == bundle }
                let signed = try CodeSigner(signer.signerOptions()).plan(bundle, over: inside, removing: plan.removals)
                work.changes.removeAll { change in inside.contains { $0.url == change.url } }
                work.changes += signed.changes
                work.findings += signed.findings
            }
            return work
        }
    }

    private func cpu(_ name: String) throws -> CPUType {
        guard let cpu = CPUType(named: name) else { throw CommandFailure(.usage, "no processor is called \(name)") }
        return cpu
    }
}
