import ArgumentParser
import CordonAppTools
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
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cordon-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
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
