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

    @Argument(help: "An app, extension or framework folder, or one code file.")
    var path: String

    @Option(help: "Roots to trust, in PEM; every signature must lead to one of them.")
    var anchors: String?

    @Flag(help: "Print one JSON document.")
    var json = false

    func run() async throws {
        let url = URL(fileURLWithPath: path)
        var findings = try reporting { () throws(AppToolsError) in try SignatureVerifier().findings(url) }
        if let anchors {
            do {
                findings += try await SignatureTrust(anchors: PEMFile.text(anchors)).findings(url)
            } catch { throw CommandFailure(error) }
        }
        let report = ToolReport(findings: findings)
        try report.write(json: json)
        try report.failOnErrors()
        if !json { Terminal.data("\(path): valid") }
    }
}
