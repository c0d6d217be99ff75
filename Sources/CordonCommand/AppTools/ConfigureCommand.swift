import ArgumentParser
import CordonAppTools
import Foundation

/// `cordon configure`: brings an Info.plist and its entitlements into the state that protection needs.
struct ConfigureCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "configure", abstract: "Prepare an Info.plist and its entitlements.",
        discussion: """
            XML is edited as text: comments, order and unknown keys stay, and a second run changes nothing.

            Example: cordon configure Info.plist --entitlements Demo.entitlements --write-entitlements --check
            """)

    @Argument(help: "The final Info.plist of an app or extension; or the .app, .appex, .xcarchive or .ipa that has it.")
    var info: String

    @Option(name: [.customShort("e"), .long], help: "The entitlements file.")
    var entitlements: String?

    @Option(name: [.customShort("o"), .long], help: "Write the Info.plist here instead of in place.")
    var output: String?

    @OptionGroup var names: NamesOption

    @OptionGroup var buildSettings: BuildSettingsOptions

    @Option(name: .customLong("set"), help: "A setting to write, KEY=VALUE; true and false are booleans. May repeat.")
    var settings: [String] = []

    @Option(help: "A URL scheme to add when the app has none.")
    var ensureScheme: String?

    @Option(help: "Query schemes: standard or minimal.")
    var queries: Queries = .standard

    enum Queries: String, ExpressibleByArgument, CaseIterable {
        case standard
        case minimal
    }

    @Option(help: "Major version of the iOS SDK the app is linked with.")
    var sdk: Int?

    @Option(help: "The app that contains this extension: its identifier or its Info.plist.")
    var containingApp: String?

    @Flag(help: "This is, or the app has, an Open-In extension.")
    var openIn = false

    @Option(help: "The app's name, for the Open-In extension's display name.")
    var openInName: String?

    @Option(help: "Main storyboard and nib keys: keep, restore or move.")
    var mainInterface = "keep"

    @Flag(help: "Write the default scene configuration when there is none.")
    var fixScenes = false

    @Flag(help: "Make the extension's activation rule accept managed types.")
    var activationRule = false

    @Flag(help: "Treat missing required settings as errors.")
    var strict = false

    @Flag(help: "Check for a store build.")
    var release = false

    @Flag(help: "Write missing keychain groups into the entitlements file.")
    var writeEntitlements = false

    @Option(name: .customLong("profile"), help: "A provisioning profile that must cover the entitlements.")
    var provisioningProfile: String?

    @Flag(help: "Remove the withdrawn keychain group.")
    var prune = false

    @Option(help: "Write as xml or binary; the input's format when absent.")
    var format: String?

    @Flag(help: "Only report what would change; status 1 when something would.")
    var check = false

    @Flag(help: "Show the changed lines as a unified diff; with --check nothing is written.")
    var diff = false

    @Flag(help: "Print one JSON document.")
    var json = false

    func run() throws {
        let given = URL(fileURLWithPath: info)
        guard AppPackage.isPackage(given) else { return try run(given, in: nil) }
        try PackageArgument.parse([info]).open(json: json) { package in
            let app = try reporting { () throws(AppToolsError) in try package.app() }
            try run(app.appendingPathComponent("Info.plist"), in: package)
        }
    }

    private func run(_ infoURL: URL, in package: AppPackage?) throws {
        let options = try options()
        let result = try reporting { () throws(AppToolsError) in
            let infoData = try InputFile.map(infoURL)
            var granted: (data: Data, path: String)?
            if let entitlements {
                guard !entitlements.isEmpty else {
                    throw AppToolsError(.missing, "--entitlements names no file")
                }
                granted = (try InputFile.map(URL(fileURLWithPath: entitlements)), entitlements)
            }
            return try Configurator(options).configure(info: (infoData, infoURL.path), entitlements: granted)
        }
        var report = ToolReport(findings: result.findings)
        if let provisioningProfile {
            guard let editor = result.entitlements, let entitlements else {
                throw CommandFailure(.usage, "--profile checks entitlements, give them with --entitlements")
            }
            report.findings += try reporting { () throws(AppToolsError) -> [Finding] in
                let data = try InputFile.map(URL(fileURLWithPath: provisioningProfile), limit: 64 << 20)
                do throws(AppToolsError) {
                    return try ProvisioningProfile(data).findings(editor.value, path: entitlements)
                } catch { throw error.inside(provisioningProfile) }
            }
        }
        var wanted = result.info.format
        if let format {
            guard let chosen = PropertyList.Format(rawValue: format) else {
                throw CommandFailure(.usage, "no format is called \(format)", hint: "xml or binary")
            }
            wanted = chosen
        }
        func change(_ url: URL, _ content: Data) -> FileChange {
            FileChange(url, content, inside: WriteBoundary(of: url))
        }
        var changes = [change(output.map { URL(fileURLWithPath: $0) } ?? infoURL, result.info.data(as: wanted))]
        if let entitlements, let editor = result.entitlements {
            changes.append(change(URL(fileURLWithPath: entitlements), editor.data))
        }
        let hasErrors = report.findings.contains { $0.severity == .error }
        if hasErrors {
            // Nothing is written while something needs a decision first.
            changes = []
        }
        if diff, !json {
            for change in changes { try show(change, of: infoURL) }
        }
        try apply(changes, in: package, to: &report, isCheck: check, json: json)
        try report.failOnErrors()
    }

    private func show(_ change: FileChange, of infoURL: URL) throws {
        let target = change.url.path
        let source = FileManager.default.fileExists(atPath: target) ? target : infoURL.path
        func text(_ data: Data) throws(AppToolsError) -> String {
            String(decoding: try PropertyListEditor(reading: data).data(as: .xml), as: UTF8.self)
        }
        let diff = try reporting { () throws(AppToolsError) in
            let old = try text(InputFile.map(URL(fileURLWithPath: source)))
            return UnifiedDiff(old: old, new: try text(change.pieces.reduce(Data(), +)), name: target)
        }
        Terminal.data(bytes: Data(diff.description.utf8))
    }

    private func options() throws -> ConfiguratorOptions {
        var options = ConfiguratorOptions(names: try names.profile())
        options.defines = try buildSettings.values()
        options.settings = try settings.map(NameAndValue.pair).map { ($0, Self.value($1)) }
        guard let main = ConfiguratorOptions.MainInterface(rawValue: mainInterface) else {
            throw CommandFailure(.usage, "--main-interface takes keep, restore or move")
        }
        options.mainInterface = main
        options.ensuredScheme = ensureScheme
        options.hasMinimalQueries = queries == .minimal
        options.sdkVersion = sdk
        options.containingApp = try containingApp.map(identifier)
        options.isOpenIn = openIn
        options.openInName = openInName
        options.fixesScenes = fixScenes
        options.rewritesActivationRule = activationRule
        options.isStrict = strict
        options.isRelease = release
        options.writesEntitlements = writeEntitlements
        options.prunes = prune
        return options
    }

    private func identifier(_ app: String) throws -> String {
        guard app.hasSuffix(".plist") else { return app }
        let list = try reporting { () throws(AppToolsError) in
            try PropertyList(contentsOf: URL(fileURLWithPath: app))
        }
        guard let identifier = list.value["CFBundleIdentifier"]?.string else {
            throw CommandFailure(.badInput, "\(app): has no CFBundleIdentifier")
        }
        return identifier
    }

    private static func value(_ text: String) -> PropertyListValue {
        text == "true" ? .boolean(true) : text == "false" ? .boolean(false) : .string(text)
    }
}
