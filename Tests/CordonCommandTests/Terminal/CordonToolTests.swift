import ArgumentParser
import CordonTestSupport
import Foundation
import Testing

@testable import CordonCommand

/// What the tool looks at before any of its commands runs.
struct CordonToolTests {
    @Test func `too few open files are told, and no event loop ends the process`() async {
        await #expect(processExitsWith: .exitCode(5)) {
            var limit = rlimit(rlim_cur: 16, rlim_max: 16)
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            await CordonTool.main()
        }
    }

    @Test func `an argument that is not UTF-8 is refused, and one with a replacement character is not`() throws {
        func check(_ argument: [UInt8]) throws {
            let bytes = (argument + [0]).map(CChar.init(bitPattern:))
            var words = [strdup("cordon"), bytes.withUnsafeBufferPointer(copy)]
            defer { words.forEach { free($0) } }
            try words.withUnsafeMutableBufferPointer { try CordonTool.requireText($0) }
        }
        for odd in [[0x71, 0xFF], [0x71, 0xFE], [0xC3]] as [[UInt8]] {
            let failure = #expect(throws: CommandFailure.self) { try check(odd) }
            #expect(failure?.status == .usage && failure?.message.contains("not UTF-8") == true)
        }
        try check(Array("q\u{FFFD}é".utf8))
    }

    @Test(
        .enabled(if: builtCordon != nil, "needs the program"),
        arguments: [
            "serve token explain --issuer https://id.example.org --tenant contoso", "activation-rule -",
            "policy lint -", "sign App --engine native --p12 /etc/passwd --password-file -",
        ])
    func `an error of the system is bad input and never the answer that a check failed`(words: String) throws {
        let program = try #require(builtCordon).path
        let told = try Program.run("/bin/sh", ["-c", "exec \"$0\" \(words) </", program])
        #expect(told.status == 3 && !told.wasSignalled && told.text.isEmpty, "\(told.everything)")
        #expect(told.everything.contains("standard input cannot be read"))
    }

    @Test(.enabled(if: builtCordon != nil, "needs the program"), arguments: ["0", "20", "-5"])
    func `help in few columns explains every option`(columns: String) throws {
        let help = try Program.run(
            try #require(builtCordon).path, ["serve", "--help"], environment: ["COLUMNS": columns])
        #expect(help.status == 0 && help.text.contains("sqlite:PATH"), "\(help.everything)")
    }

    /// The command and every one below it.
    private func all(of command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
        [command] + command.configuration.subcommands.flatMap { all(of: $0) }
    }

    @Test func `every command's help shows an example`() {
        let commands = all(of: CordonTool.self).filter { $0.configuration.subcommands.isEmpty }
        #expect(commands.count > 40)
        for command in commands {
            let example = command.configuration.discussion.firstMatch(of: #/xamples?:\s+(cordon|openssl) /#)
            #expect(example != nil, "\(command)")
        }
    }

    @Test func `help leaves it to the terminal where a line ends, and states a default once`() {
        for command in all(of: CordonTool.self) {
            for paragraph in command.configuration.discussion.components(separatedBy: "\n\n") {
                // Commands to copy are indented, and stand as they are.
                let lines = paragraph.components(separatedBy: "\n").filter { !$0.hasPrefix(" ") && !$0.isEmpty }
                #expect(lines.count <= 1, "\(command): \(lines)")
            }
            let help = CordonTool.helpMessage(for: command).split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(help.firstMatch(of: #/\(default: [^)]*\) \(default: /#) == nil, "\(command)")
        }
    }

    private func copy(_ bytes: UnsafeBufferPointer<CChar>) -> UnsafeMutablePointer<CChar>? {
        bytes.baseAddress.flatMap { strdup($0) }
    }
}
