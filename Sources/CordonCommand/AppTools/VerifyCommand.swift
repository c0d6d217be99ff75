import ArgumentParser
import CordonAppTools
import Foundation

/// `cordon verify`: recomputes a code signature and explains every mismatch.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check the code signature of an app, a framework or a code file.",
        discussion: """
            Every page, sealed file and entitlement is compared. Trust in the certificate is not judged.

            Example: cordon verify Demo.app
            """)

    @Argument(help: "An app, extension or framework folder, or one code file.")
    var path: String

    @Flag(help: "Print one JSON document.")
    var json = false

    func run() throws {
        let findings = try reporting { () throws(AppToolsError) in
            try SignatureVerifier().findings(URL(fileURLWithPath: path))
        }
        let report = ToolReport(findings: findings)
        try report.write(json: json)
        try report.failOnErrors()
        if !json { Terminal.data("\(path): valid") }
    }
}
