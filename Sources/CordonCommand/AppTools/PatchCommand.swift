import ArgumentParser
import CordonAppTools
import Foundation

/// `cordon patch`: makes an app's code load the protection framework, undoes it, or tells how things stand.
struct PatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patch", abstract: "Make an app's own code load the protection framework.",
        discussion: """
            Adds one load command to each executable, framework and extension, in the space the linker left. \
            --remove restores the original bytes. System libraries and Swift's own are never touched.

            Example: cordon patch --install Demo.app
            """)

    @Flag(help: "Install (default), remove, or verify.")
    var action: Action = .install

    enum Action: String, EnumerableFlag {
        case install
        case remove
        case verify
    }

    @OptionGroup var package: PackageArgument

    @OptionGroup var names: NamesOption

    @Flag(help: "Sign again, inside out, so that the result verifies; a signature that cannot be judged is refused.")
    var resign = false

    @OptionGroup var signer: IdentityOptions

    @Flag(help: "Explain every changed byte, and what the patch does not do.")
    var explain = false

    @Flag(help: "With --receipt, give up the commands for source version and empty data-in-code where room is short.")
    var reuse = false

    @Option(help: "Where to keep the original bytes on install, or to take them from on remove; outside the app.")
    var receipt: String?

    @Flag(help: "Only report what would change; status 1 when something would.")
    var check = false

    @Flag(help: "Report the state of every image, not only of the changed ones.")
    var verbose = false

    @Flag(help: "Print one JSON document.")
    var json = false

    func run() throws {
        guard !reuse || receipt != nil else {
            throw CommandFailure(.usage, "--reuse needs --receipt, which keeps what is given up")
        }
        let patcher = FrameworkPatcher(names: try names.profile(), reusesCommands: reuse)
        try package.open(json: json) { package in
            guard receipt == nil || package.bundles.count == 1 else {
                throw CommandFailure(.usage, "--receipt is for one app, this holds \(package.bundles.count)")
            }
            if action == .remove, let receipt {
                return try restore(package, from: URL(fileURLWithPath: receipt))
            }
            try run(patcher, package)
        }
    }

    private func run(_ patcher: FrameworkPatcher, _ package: AppPackage) throws {
        var report = PatchReport()
        var isProtected = true
        // A refusal of the last bundle leaves the first as it is.
        let plans = try package.bundles.map { try plan(patcher, $0) }
        for (bundle, plan) in zip(package.bundles, plans) {
            isProtected = isProtected && plan.isProtected
            report.images += plan.images.map { $0.shown(in: package) }
            report.findings += plan.findings.map(package.shown)
            report.changed += try write(plan, bundle).map(package.shown)
        }
        if action != .verify, !check { try reporting { () throws(AppToolsError) in try package.save() } }
        try show(report)
        if action == .verify ? !isProtected : check && !report.changed.isEmpty {
            throw CommandFailure(
                .notInWantedState, action == .verify ? "not every image is protected" : "some images would change")
        }
    }

    private func plan(_ patcher: FrameworkPatcher, _ bundle: URL) throws -> FrameworkPatcher.Plan {
        try reporting { () throws(AppToolsError) in
            let plan = try patcher.plan(FrameworkPatcher.Action(rawValue: action.rawValue) ?? .verify, bundle)
            guard resign, action != .verify else { return plan }
            return try patcher.resigned(plan, bundle, options: signer.signerOptions())
        }
    }

    /// Writes a plan, or with `--check` only says what it would write.
    private func write(_ plan: FrameworkPatcher.Plan, _ bundle: URL) throws -> [String] {
        try reporting { () throws(AppToolsError) in
            try AtomicWriter.check(plan.changes)
            guard action != .verify, !check else { return plan.changes.map(\.url.path) }
            if let receipt, !plan.changes.isEmpty {
                let note = try PatchReceipt(before: plan.changes, in: bundle)
                try AtomicWriter.write([try note.change(at: URL(fileURLWithPath: receipt), outside: bundle)])
            }
            return try AtomicWriter.write(plan.changes).map(\.path)
        }
    }

    private func restore(_ package: AppPackage, from receipt: URL) throws {
        let plan = try reporting { () throws(AppToolsError) -> PatchReceipt.Restoration in
            try PatchReceipt(contentsOf: receipt).restoration(of: package.bundles[0])
        }
        var report = ToolReport()
        try apply(
            plan.changes, removing: plan.removals, in: package, to: &report, isCheck: check, json: json)
    }

    private func show(_ report: PatchReport) throws {
        if json { return try Terminal.json(report) }
        if explain { for line in FrameworkPatcher.limits { Terminal.talk("note: \(line)") } }
        for finding in report.findings { Terminal.talk(finding.description) }
        for image in report.images where verbose || image.changes || action == .verify {
            Terminal.data("\(image.path) (\(image.cpu)): \(image.state): \(image.detail)")
            if explain { for line in image.explanation { Terminal.data("    \(line)") } }
        }
    }
}

/// What `cordon patch --json` prints.
struct PatchReport: Encodable {
    var images: [FrameworkPatcher.ImageReport] = []
    var findings: [Finding] = []
    var changed: [String] = []
}
