import ArgumentParser
import CordonAppTools
import Foundation

/// `cordon sign`: signs an app with all code in it, inside out.
struct SignCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign", abstract: "Sign an app, a framework or a code file.",
        discussion: """
            Nested libraries, frameworks and extensions are signed first, then the bundle around them is sealed. \
            Entitlements and identifiers stay unless given. Build variables in entitlements are replaced from the \
            certificate, the provisioning profile, the Info.plist or --setting; one that is left is refused.

            Without a certificate the signature is ad hoc, which simulators take and devices do not. On macOS the \
            system's codesign does the work unless another engine is asked for.

            Example: cordon sign Demo.app --adhoc
            """)

    @OptionGroup var package: PackageArgument

    @OptionGroup var signer: IdentityOptions

    @Option(help: "What signs: native, apple (the codesign of macOS), or none.")
    var engine = SigningEngine.standard

    @Option(help: "With the apple engine: the name of the identity in the keychain.")
    var identity: String?

    @Option(help: "Entitlements for the outermost executable.")
    var entitlements: String?

    @OptionGroup var settings: BuildSettingsOptions

    @Option(help: "The identifier of the outermost code.")
    var identifier: String?

    @Flag(help: "Only report what would change; status 1 when something would.")
    var check = false

    @Flag(help: "Print one JSON document.")
    var json = false

    func run() throws {
        guard engine != .none else { return try ToolReport().write(json: json) }
        guard engine == .native else { return try runCodesign() }
        guard identity == nil else {
            throw CommandFailure(.usage, "--identity belongs to --engine apple", hint: "--key and --certificate")
        }
        let defines = try settings.values()
        let options = try reporting { () throws(AppToolsError) in
            var options = try signer.signerOptions()
            options.identifier = identifier
            options.defines = defines
            if let entitlements { options.entitlements = try InputFile.map(URL(fileURLWithPath: entitlements)) }
            return options
        }
        try package.apply(isCheck: check, json: json) { bundle in
            let plan = try reporting { () throws(AppToolsError) in try CodeSigner(options).plan(bundle) }
            return BundleWork(changes: plan.changes, findings: plan.findings)
        }
    }

    private func runCodesign() throws {
        guard signer.key == nil, signer.pkcs12 == nil else {
            throw CommandFailure(.usage, "codesign takes its keys from the keychain", hint: "--identity NAME")
        }
        guard !check else { throw CommandFailure(.usage, "codesign cannot tell what it would change") }
        let request = AppleCodesign(
            identity: identity, identifier: identifier, entitlements: entitlements,
            defines: try settings.values())
        try package.open(json: json) { package in
            try reporting { () throws(AppToolsError) in
                for bundle in package.bundles { try request.sign(bundle) }
                try package.save()
            }
            try ToolReport(changed: package.bundles.map(\.path)).shown(in: package).write(json: json)
        }
    }
}

/// What makes signatures (TL-SG-01).
enum SigningEngine: String, ExpressibleByArgument, CaseIterable {
    case native
    case apple
    case none

    static var standard: SigningEngine {
        #if os(macOS)
            .apple
        #else
            .native
        #endif
    }
}
