import ArgumentParser
import CordonAppTools
import CordonTestSupport
import Foundation
import Testing

@testable import CordonCommand

struct AppToolsCommandTests {
    @Test func `every tool's help shows an example`() {
        let helps = [
            ThinCommand.helpMessage(), PatchCommand.helpMessage(), ConfigureCommand.helpMessage(),
            ActivationRuleCommand.helpMessage(), SignCommand.helpMessage(), VerifyCommand.helpMessage(),
            IconsCommand.helpMessage(), ProfileCommand.helpMessage(), ProfileSignOnCommand.helpMessage(),
            ProfileAppConfigCommand.helpMessage(), ProfileLintCommand.helpMessage(), DoctorCommand.helpMessage(),
        ]
        for help in helps { #expect(help.contains("Example: cordon "), "\(help.prefix(200))") }
    }

    @Test func `errors end with the status of their kind`() {
        let expected: [(AppToolsError.Code, CordonCommand.ExitStatus)] = [
            (.missing, .badInput), (.malformed, .badInput), (.unsupported, .badInput), (.refused, .refused),
            (.unwritable, .writeFailed), (.usage, .usage),
        ]
        for (code, status) in expected {
            #expect(CommandFailure(AppToolsError(code, "reason")).status == status)
        }
    }

    private func status(of command: any ParsableCommand) -> CordonCommand.ExitStatus? {
        var command = command
        do {
            try command.run()
            return .done
        } catch { return (error as? CommandFailure)?.status }
    }

    @Test func `configure writes once, and check tells when it would`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let info = folder.appendingPathComponent("Info.plist")
        try "<plist>\n<dict>\n  <key>CFBundleIdentifier</key>\n  <string>a.b</string>\n</dict>\n</plist>\n"
            .write(to: info, atomically: true, encoding: .utf8)
        #expect(status(of: try ConfigureCommand.parse([info.path, "--check"])) == .notInWantedState)
        #expect(status(of: try ConfigureCommand.parse([info.path])) == .done)
        #expect(status(of: try ConfigureCommand.parse([info.path, "--check"])) == .done)
        #expect(status(of: try ConfigureCommand.parse([info.path, "--strict"])) == .notInWantedState)
        #expect(status(of: try ConfigureCommand.parse([info.path, "--names", "other"])) == .usage)
        #expect(status(of: try ConfigureCommand.parse([folder.path + "/none"])) == .badInput)
        #expect(status(of: try ConfigureCommand.parse([info.path, "--entitlements", ""])) == .badInput)
    }

    @Test func `configure follows no link out of a bundle, and the rule's command neither`() throws {
        let folder = TemporaryFolder.newPath()
        let bundle = folder.appendingPathComponent("Share.appex")
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let victim = folder.appendingPathComponent("victim.plist")
        let text = """
            <plist><dict><key>CFBundleIdentifier</key><string>a.b</string><key>NSExtension</key><dict>
            <key>NSExtensionAttributes</key><dict><key>NSExtensionActivationRule</key>
            <string>ANY registeredTypeIdentifiers == "a"</string></dict></dict></dict></plist>
            """
        try text.write(to: victim, atomically: true, encoding: .utf8)
        let info = bundle.appendingPathComponent("Info.plist")
        try FileManager.default.createSymbolicLink(at: info, withDestinationURL: victim)
        for arguments in [[info.path, "--containing-app", "a"], [info.path, "--containing-app", "a", "--check"]] {
            #expect(status(of: try ConfigureCommand.parse(arguments)) == .refused)
        }
        #expect(status(of: try ActivationRuleCommand.parse([info.path, "--in-place"])) == .refused)
        #expect(try String(contentsOf: victim, encoding: .utf8) == text)
        // A link that a person names outside a bundle is followed, as before.
        let link = folder.appendingPathComponent("Linked.plist")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: victim)
        #expect(status(of: try ActivationRuleCommand.parse([link.path, "--in-place"])) == .done)
        #expect(try String(contentsOf: victim, encoding: .utf8) != text)
    }

    @Test func `sign takes build variables by name and value`() throws {
        #expect(try SignCommand.parse(["A.app", "--define", "A=b", "--define", "C=d=e"]).defines == ["A=b", "C=d=e"])
        #expect(
            status(of: try SignCommand.parse(["A.app", "--engine", "native", "--define", "A"])) == .usage)
    }

    @Test func `the aliases' flags parse`() throws {
        let configure = LegacyAlias.translate(arguments: [
            "CordonConfigurator", "-i", "Info.plist", "-e", "a", "-o", "b",
        ])
        let parsed = try ConfigureCommand.parse(Array(try #require(configure).dropFirst()))
        #expect(parsed.info == "Info.plist")
        #expect(parsed.entitlements == "a")
        #expect(parsed.output == "b")
        let patch = LegacyAlias.translate(arguments: ["CordonFrameworkPatcher", "-r", "A.app", "-resign", "-verbose"])
        let command = try PatchCommand.parse(Array(try #require(patch).dropFirst()))
        #expect(command.action == .remove)
        #expect(command.resign && command.verbose)
        let icons = LegacyAlias.translate(arguments: ["CordonConfigurator", "-generateOpenInIcons", "A.app", "-o", "d"])
        #expect(try IconsCommand.parse(Array(try #require(icons).dropFirst())).output == "d")
    }
}
