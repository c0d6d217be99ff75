import ArgumentParser
import CordonAppTools
import Foundation

/// `cordon doctor`: says what an app lacks for protection, and puts right what is safe.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Report what an app lacks for protection, and how to fix it.",
        discussion: """
            Looks at linked frameworks, property lists, entitlements, slices and the signature. --fix writes the \
            property-list keys that are safe to add; sign the app again afterwards.

            Example: cordon doctor Demo.app --names intune-compatible
            """)

    @Argument(help: "An .app, .appex, .xcarchive or .ipa, or with --debug-settings a Settings.bundle.")
    var path: String

    @OptionGroup var names: NamesOption

    @Flag(help: "Write the corrections that are safe.")
    var fix = false

    @Flag(help: "Work on the debug settings bundle instead: check it, or with --fix write it.")
    var debugSettings = false

    @Flag(help: "Treat missing required settings as errors.")
    var strict = false

    @Flag(help: "Print one JSON document.")
    var json = false

    func run() throws {
        let profile = try names.profile()
        guard !debugSettings else { return try runOnDebugSettings(profile) }
        var options = ConfiguratorOptions(names: profile)
        options.isStrict = strict
        let doctor = AppDoctor(options)
        let report = try PackageArgument.parse([path]).open(json: json) { package in
            try reporting { () throws(AppToolsError) in
                var report = ToolReport()
                for bundle in package.bundles {
                    let diagnosis = try doctor.examine(bundle)
                    guard fix, !diagnosis.changes.isEmpty else {
                        report.findings += diagnosis.findings
                        continue
                    }
                    report.changed += try AtomicWriter.write(diagnosis.changes).map(\.path)
                    // What was put right is no longer missing.
                    report.findings += try doctor.examine(bundle).findings
                }
                if fix { try package.save() }
                return report.shown(in: package)
            }
        }
        try report.write(json: json)
        try report.failOnErrors()
    }

    private func runOnDebugSettings(_ profile: NamingProfile) throws {
        let bundle = DebugSettingsBundle(URL(fileURLWithPath: path), names: profile)
        var report = ToolReport()
        if fix {
            let changes = try reporting { () throws(AppToolsError) -> [FileChange] in try bundle.changes() }
            return try apply(changes, to: &report, isCheck: false, json: json)
        }
        report.findings = try reporting { () throws(AppToolsError) -> [Finding] in try bundle.findings() }
        try report.write(json: json)
        try report.failOnErrors()
    }
}
