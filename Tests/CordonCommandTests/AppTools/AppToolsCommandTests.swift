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
            GuideCommand.helpMessage(), WrapCommand.helpMessage(), AliasesCommand.helpMessage(),
            ScanCommand.helpMessage(),
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

    @Test func `configure writes to another file when one is named, and leaves its input`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let text = "<plist>\n<dict>\n  <key>CFBundleIdentifier</key>\n  <string>a.b</string>\n</dict>\n</plist>\n"
        let (info, output) = (folder.appendingPathComponent("Info.plist"), folder.appendingPathComponent("Out.plist"))
        try text.write(to: info, atomically: true, encoding: .utf8)
        #expect(status(of: try ConfigureCommand.parse([info.path, "--output", output.path])) == .done)
        #expect(try String(contentsOf: info, encoding: .utf8) == text)
        #expect(try String(contentsOf: output, encoding: .utf8).contains("CordonSettings"))
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

    @Test func `configure takes a bundle for its property list, and an archive is written anew`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let app = folder.appendingPathComponent("Payload/A.app")
        try FileManager.default.createDirectory(at: app, withIntermediateDirectories: true)
        let text = "<plist>\n<dict>\n  <key>CFBundleIdentifier</key>\n  <string>a.b</string>\n</dict>\n</plist>\n"
        let info = app.appendingPathComponent("Info.plist")
        try text.write(to: info, atomically: true, encoding: .utf8)
        let python = try #require(Program.python)
        try Program.succeed(
            python, ["-c", "import shutil; shutil.make_archive('A', 'zip', '.', 'Payload')"], in: folder)
        let archive = folder.appendingPathComponent("A.zip")
        #expect(status(of: try ConfigureCommand.parse([app.path])) == .done)
        #expect(try String(contentsOf: info, encoding: .utf8) != text)
        #expect(status(of: try ConfigureCommand.parse([archive.path, "--check"])) == .notInWantedState)
        #expect(status(of: try ConfigureCommand.parse([archive.path])) == .done)
        #expect(status(of: try ConfigureCommand.parse([archive.path, "--check"])) == .done)
    }

    @Test func `wrapping is declined with the reason, whatever it is given`() throws {
        for arguments in [[], ["-i", "A.ipa", "-o", "B.ipa", "-c", "hash", "-v"]] {
            #expect(status(of: try WrapCommand.parse(arguments)) == .badInput)
        }
    }

    @Test func `the aliases are made once, and nothing else is replaced`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        #expect(status(of: try AliasesCommand.parse([folder.path])) == .done)
        #expect(status(of: try AliasesCommand.parse([folder.path])) == .done)
        let place = folder.appendingPathComponent("CordonConfigurator")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: place.path).hasPrefix("/"))
        #expect(status(of: try AliasesCommand.parse([folder.path, "--remove"])) == .done)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        try Data().write(to: place)
        #expect(status(of: try AliasesCommand.parse([folder.path])) == .refused)
    }

    @Test func `an xcframework with a library for macOS is thinned, also where seals are to be made anew`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let framework = folder.appendingPathComponent("X.xcframework")
        try FileManager.default.createDirectory(
            at: framework.appendingPathComponent("macos-arm64/X.framework/Versions"), withIntermediateDirectories: true)
        let library = "<dict><key>LibraryIdentifier</key><string>macos-arm64</string></dict>"
        try "<plist><dict><key>AvailableLibraries</key><array>\(library)</array></dict></plist>"
            .write(to: framework.appendingPathComponent("Info.plist"), atomically: true, encoding: .utf8)
        #expect(status(of: try ThinCommand.parse([framework.path, "--keep", "device", "--resign"])) == .done)
    }

    @Test func `sign takes build variables by name and value`() throws {
        let command = try SignCommand.parse(["A.app", "--define", "A=b", "--setting", "C=d=e"])
        #expect(try command.settings.values() == ["A": "b", "C": "d=e"])
        #expect(
            status(of: try SignCommand.parse(["A.app", "--engine", "native", "--define", "A"])) == .usage)
    }

    @Test func `build variables come from a file of build settings, and those given by name go first`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        try "TEAM = ABCDE12345 // the team\nPREFIX = $(TEAM).\nLOOP = $(LOOP)\nA[sdk=iphoneos*] = x\n"
            .write(to: folder.appendingPathComponent("base.xcconfig"), atomically: true, encoding: .utf8)
        let file = folder.appendingPathComponent("app.xcconfig")
        try "#include \"base.xcconfig\"\n#include? \"none.xcconfig\"\nNAME = a b\n"
            .write(to: file, atomically: true, encoding: .utf8)
        let command = try SignCommand.parse(["A.app", "--xcconfig", file.path, "--setting", "NAME=c"])
        #expect(try command.settings.values() == ["TEAM": "ABCDE12345", "PREFIX": "ABCDE12345.", "NAME": "c"])
        try "what\n".write(to: file, atomically: true, encoding: .utf8)
        #expect(throws: CommandFailure.self) { try command.settings.values() }
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
