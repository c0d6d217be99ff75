import ArgumentParser
import CordonAppTools
import Foundation

/// `cordon sign`: signs an app with all code in it, inside out.
struct SignCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign", abstract: "Sign an app, a framework or a code file.",
        discussion: """
            Nested libraries, frameworks and extensions are signed first, then the bundle around them is sealed. \
            Entitlements and identifiers stay unless given.

            Without a certificate the signature is ad hoc, which simulators take and devices do not. A PKCS#12 file is \
            turned into PEM by openssl pkcs12 -in FILE -nodes.

            Example: cordon sign Demo.app --adhoc
            """)

    @Argument(help: "An app, extension or framework folder, or one code file.")
    var path: String

    @Flag(name: .customLong("adhoc"), help: "Sign without a certificate, also over a certificate's signature.")
    var isAdHoc = false

    @Option(help: "An unencrypted RSA or P-256 key in PEM.")
    var key: String?

    @Option(help: "The key's certificate and its chain in PEM.")
    var certificate: String?

    @Option(help: "Entitlements for the outermost executable.")
    var entitlements: String?

    @Option(help: "The identifier of the outermost code.")
    var identifier: String?

    @Flag(help: "Only say what would change; status 1 when something would.")
    var check = false

    @Flag(help: "Print one JSON document.")
    var json = false

    func run() throws {
        guard (key == nil) == (certificate == nil), key == nil || !isAdHoc else {
            throw CommandFailure(.usage, "--key and --certificate belong together, and not with --adhoc")
        }
        let plan = try reporting { () throws(AppToolsError) -> CodeSigner.Plan in
            var options = CodeSigner.Options()
            options.allowsDowngrade = isAdHoc
            options.identifier = identifier
            if let key, let certificate {
                options.identity = try PEMIdentity(key: PEMFile.text(key), certificates: PEMFile.text(certificate))
            }
            if let entitlements { options.entitlements = try InputFile.map(URL(fileURLWithPath: entitlements)) }
            return try CodeSigner(options).plan(URL(fileURLWithPath: path))
        }
        var report = ToolReport(findings: plan.findings)
        try apply(plan.changes, to: &report, isCheck: check, json: json)
    }
}

/// Reading of PEM files.
enum PEMFile {
    static func text(_ path: String) throws(AppToolsError) -> String {
        String(decoding: try InputFile.map(URL(fileURLWithPath: path), limit: 1 << 20), as: UTF8.self)
    }
}
