import ArgumentParser
import CordonAppTools
import CordonHTTPClient
import Foundation

/// `cordon profile`: configuration profiles for device management.
struct ProfileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile", abstract: "Make and check configuration profiles.",
        discussion: "Example: cordon profile sso --names intune-compatible --identifier org.example.sign-on",
        subcommands: [ProfileSignOnCommand.self, ProfileAppConfigCommand.self, ProfileLintCommand.self])
}

/// `cordon profile sso`: single sign-on for shared devices.
struct ProfileSignOnCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sso", abstract: "Make a single sign-on profile for shared devices.",
        discussion: "Example: cordon profile sso --names intune-compatible --identifier org.example.sign-on")

    @OptionGroup var names: NamesOption

    @Option(help: "The profile's reverse-DNS name.")
    var identifier = "org.cordon.sign-on"

    @Option(name: .customLong("extension"), help: "The bundle identifier of the extension that answers.")
    var extensionIdentifier: String?

    @Option(name: .customLong("url"), help: "An address prefix the extension answers for. May repeat.")
    var urls: [String] = []

    @Flag(help: "The devices are not shared.")
    var notShared = false

    @Option(help: "The team of the extension's maker; for macOS.")
    var team: String?

    @Option(help: "What happens while the screen is locked: Cancel or DoNotHandle.")
    var screenLocked: String?

    @Option(name: .customLong("denied"), help: "An app that the extension does not answer. May repeat.")
    var denied: [String] = []

    @Option(help: "Extra data for the extension, KEY=VALUE. May repeat.")
    var data: [String] = []

    @Option(help: "The profile's UUID; made from its content when absent.")
    var uuid: String?

    @Option(help: "Sign with this unencrypted RSA or P-256 key in PEM.")
    var key: String?

    @Option(help: "The key's certificate and its chain in PEM.")
    var certificate: String?

    @Option(name: [.customShort("o"), .long], help: "Write to this file instead of standard output.")
    var output: String?

    func run() throws {
        let profile = try names.profile()
        let entries = try data.map { text in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw CommandFailure(.usage, "\"\(text)\" is not KEY=VALUE")
            }
            return (key: parts[0], value: parts[1])
        }
        let made = try reporting { () throws(AppToolsError) -> ConfigurationProfile in
            var request = ConfigurationProfile.SignOn(identifier: identifier)
            request.extensionIdentifier = extensionIdentifier
            request.urls = urls
            request.isShared = !notShared
            request.team = team
            request.screenLocked = screenLocked
            request.denied = denied
            request.data = entries
            request.uuid = uuid
            return try ConfigurationProfile(request, names: profile)
        }
        guard (key == nil) == (certificate == nil) else {
            throw CommandFailure(.usage, "--key and --certificate belong together")
        }
        guard let key, let certificate else { return try ProfileOutput.write(made.data, to: output) }
        let signed = try reporting { () throws(AppToolsError) -> Data in
            try CertificateIdentity(key: PEMFile.text(key), certificates: PEMFile.text(certificate)).envelope(made.data)
        }
        try ProfileOutput.write(signed, to: output)
    }
}

/// `cordon profile app-config`: managed app configuration.
struct ProfileAppConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app-config", abstract: "Make a managed app configuration.",
        discussion: "Example: cordon profile app-config com.contoso.notes --bool sharedDeviceMode=true")

    @Argument(help: "The app's bundle identifier.")
    var app: String

    @OptionGroup var names: NamesOption

    @Option(name: .customLong("string"), help: "A text value, KEY=VALUE. May repeat.")
    var strings: [String] = []

    @Option(name: .customLong("bool"), help: "A boolean value, KEY=true or KEY=false. May repeat.")
    var booleans: [String] = []

    @Option(name: .customLong("int"), help: "A whole number, KEY=VALUE. May repeat.")
    var integers: [String] = []

    @Flag(help: "Add the user keys as template variables.")
    var user = false

    @Flag(help: "Only the configuration dictionary, for an install command.")
    var install = false

    @Option(name: [.customShort("o"), .long], help: "Write to this file instead of standard output.")
    var output: String?

    func run() throws {
        var entries = try strings.map { try entry($0) { .string($0) } }
        entries += try booleans.map { try entry($0) { ["true": true, "false": false][$0].map { .boolean($0) } } }
        entries += try integers.map { try entry($0) { Int64($0).map { .integer($0) } } }
        let made = ConfigurationProfile(
            configurationOf: app, entries: entries, delivery: install ? .install : .settings, includesUser: user,
            names: try names.profile())
        try ProfileOutput.write(made.data, to: output)
    }

    private func entry(
        _ text: String, _ value: (String) -> PropertyListValue?
    ) throws -> (key: String, value: PropertyListValue) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty, let value = value(parts[1]) else {
            throw CommandFailure(.usage, "\"\(text)\" is not KEY=VALUE of that type")
        }
        return (parts[0], value)
    }
}

/// `cordon profile lint`: checks a profile.
struct ProfileLintCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint", abstract: "Check a configuration profile.",
        discussion: """
            With --hosts it asks every host of a sign-on payload for its association file: devices silently leave out an \
            extension that the host does not name there.

            Example: cordon profile lint sign-on.mobileconfig --hosts
            """)

    @Argument(help: "A profile, signed or not.")
    var file: String

    @Option(help: "The system it is for: ios or macos.", transform: Self.platform)
    var platform = ProfileLint.Platform.iOS

    @Flag(help: "Ask each host whether it lets the extension answer for it.")
    var hosts = false

    @Flag(help: "Print one JSON document.")
    var json = false

    func run() async throws {
        let (profile, found) = try reporting { () throws(AppToolsError) in
            try ProfileLint.read(URL(fileURLWithPath: file), path: file)
        }
        var report = ToolReport(findings: found + ProfileLint.findings(profile, path: file, platform: platform))
        if hosts {
            var trust = ServerTrust()
            // Hosts that another party keeps up to date.
            trust.requiresTLS13 = false
            let transport = try AsyncHTTPTransport(trust: trust)
            report.findings += await AssociationCheck(transport: transport).findings(profile, path: file)
            await transport.shutdown()
        }
        try report.write(json: json)
        try report.failOnErrors()
    }

    private static func platform(_ text: String) throws -> ProfileLint.Platform {
        guard let platform = ProfileLint.Platform(rawValue: text) else {
            throw ValidationError("\(text) is neither ios nor macos")
        }
        return platform
    }
}

/// Where a made profile goes.
enum ProfileOutput {
    static func write(_ profile: Data, to output: String?) throws {
        guard let output else { return Terminal.data(bytes: profile) }
        _ = try reporting { () throws(AppToolsError) -> [URL] in
            try AtomicWriter.write([FileChange(URL(fileURLWithPath: output), profile)])
        }
    }
}
