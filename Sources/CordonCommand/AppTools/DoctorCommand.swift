import ArgumentParser
import CordonAppTools
import Foundation

/// `cordon doctor`: says what an app lacks for protection, and puts right what is safe.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Say what an app lacks for protection, and what to do.",
        discussion: """
            Looks at linked frameworks, property lists, entitlements, slices and the signature. --fix writes the \
            property-list keys that are safe to add; sign the app again afterwards.

            Example: cordon doctor Demo.app --names intune-compatible
            """)

    @Argument(help: "A built app, or with --debug-settings a Settings.bundle.")
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
        let url = URL(fileURLWithPath: path)
        var report = ToolReport()
        if debugSettings {
            let bundle = DebugSettingsBundle(url, names: profile)
            if fix {
                let changes = try reporting { () throws(AppToolsError) -> [FileChange] in try bundle.changes() }
                return try apply(changes, to: &report, isCheck: false, json: json)
            }
            report.findings = try reporting { () throws(AppToolsError) -> [Finding] in try bundle.findings() }
        } else {
            var options = ConfiguratorOptions(names: profile)
            options.isStrict = strict
            let diagnosis = try reporting { () throws(AppToolsError) -> AppDoctor.Diagnosis in
                try AppDoctor(options).examine(url)
            }
            report.findings = diagnosis.findings
            if fix {
                report.changed = try reporting { () throws(AppToolsError) -> [URL] in
                    try AtomicWriter.write(diagnosis.changes)
                }.map(\.path)
            }
        }
        try report.write(json: json)
        try report.failOnErrors()
    }
}
