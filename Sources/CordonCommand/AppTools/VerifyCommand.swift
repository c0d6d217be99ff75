import ArgumentParser
import CordonAppTools
import Foundation

/// `cordon verify`: recomputes a code signature and explains every mismatch.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check the code signature of an app, a framework or a code file.",
        discussion: """
            Every page, sealed file and entitlement is compared, and the provisioning profile beside them. Whether the \
            certificate can be trusted is judged against --anchors only.

            Example: cordon verify Demo.app
            """)

    @OptionGroup var package: PackageArgument

    @Option(help: "Roots to trust, in PEM; every signature must lead to one of them.")
    var anchors: String?

    @Flag(help: "Print one JSON document.")
    var json = false

    func run() async throws {
        let roots = try anchors.map { path in try reporting { () throws(AppToolsError) in try PEMFile.text(path) } }
        let report = try await package.open(json: json) { package in
            var findings: [Finding] = []
            for bundle in package.bundles {
                findings += try await reporting { () async throws(AppToolsError) in
                    let found = try SignatureVerifier().findings(bundle)
                    guard let roots else { return found }
                    return found + (try await SignatureTrust(anchors: roots).findings(bundle))
                }
            }
            return ToolReport(findings: findings).shown(in: package)
        }
        try report.write(json: json)
        try report.failOnErrors()
        if !json { Terminal.data("\(package.path): valid") }
    }
}
