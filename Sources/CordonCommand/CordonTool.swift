import ArgumentParser
import CordonBase
import CordonIdentity
import CordonProtocol
import Foundation

/// The tool `cordon`: every command by its name; each lives in a folder of its own.
@main
struct CordonTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cordon",
        abstract: "Draws a line around an organisation's data: service, devices, policies, vault, audit and app tools.",
        version: CordonVersion.current,
        groupedSubcommands: [
            CommandGroup(name: "See it work", subcommands: [DemoCommand.self]),
            CommandGroup(
                name: "Run it",
                subcommands: [
                    ServeCommand.self, KeysCommand.self, BackupCommand.self, RestoreCommand.self, AuditCommand.self,
                ]),
            CommandGroup(name: "Share a device", subcommands: [BrokerCommand.self, DeviceCommand.self]),
            CommandGroup(name: "Rules and files", subcommands: [PolicyCommand.self, VaultCommand.self]),
            CommandGroup(
                name: "Prepare an app",
                subcommands: [
                    GuideCommand.self, ScanCommand.self, DoctorCommand.self, ConfigureCommand.self,
                    ActivationRuleCommand.self,
                    IconsCommand.self,
                    PatchCommand.self, ThinCommand.self, SignCommand.self, VerifyCommand.self, ProfileCommand.self,
                    AliasesCommand.self, WrapCommand.self,
                ]),
        ])

    static func main() async {
        StandardStreams.fillGaps()
        // Registers may point at keys, tokens and what a vault opens, and standard error is often a log.
        ProcessMemory.endAtFaults()
        widenHelp()
        if let help = LegacyAlias.help(arguments: CommandLine.arguments) {
            Terminal.data(lines: help)
            end(.done)
        }
        do {
            try requireOpenFiles()
            try requireText(
                UnsafeMutableBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)))
            var command = try parseAsRoot(arguments())
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            end(.done)
        } catch let failure as CommandFailure {
            fail(failure)
        } catch {
            end(with: error)
        }
    }

    /// Has help in a narrow terminal told in longer lines, which the terminal wraps. In fewer columns than the margin of the explanations takes the
    /// parser leaves these out, and a debug build of it traps.
    private static func widenHelp() {
        var size = winsize()
        let isTerminal = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        let columns = getenv("COLUMNS").flatMap { Int(String(cString: $0)) } ?? (isTerminal ? Int(size.ws_col) : nil)
        if let columns, columns < leastColumns { setenv("COLUMNS", "\(leastColumns)", 1) }
    }

    private static let leastColumns = 60

    /// Refuses to begin with so few open files that an event loop, which cannot fail, has none.
    private static func requireOpenFiles() throws(CommandFailure) {
        guard OpenFileLimit.connections(each: 1, beside: 0) >= leastOpenFiles else {
            throw CommandFailure(
                .writeFailed, "fewer than \(leastOpenFiles) files may be open",
                hint: "Raise the limit: ulimit -n \(leastOpenFiles)")
        }
    }

    private static let leastOpenFiles = 32

    /// Refuses arguments that are not UTF-8: each of their odd bytes would become the same character, and two files one.
    static func requireText(
        _ arguments: UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>
    ) throws(CommandFailure) {
        for case let argument? in arguments where String(validatingCString: argument) == nil {
            throw CommandFailure(
                .usage, "\(TerminalText(String(cString: argument))): this argument is not UTF-8",
                hint: "Give the file another name, or use - with < or >.")
        }
    }

    /// The arguments, with an old tool's spelling translated when this file runs under its name.
    private static func arguments() -> [String] {
        joiningThumbprints(
            LegacyAlias.translate(arguments: CommandLine.arguments) ?? Array(CommandLine.arguments.dropFirst()))
    }

    /// Arguments in which a thumbprint that begins with a hyphen is joined to its option: the parser would find options in it, such as `-h`.
    static func joiningThumbprints(_ arguments: [String]) -> [String] {
        let letters = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        var joined: [String] = []
        for argument in arguments {
            let isThumbprint = argument.count == 43 && argument.hasPrefix("-") && argument.allSatisfy(letters.contains)
            if isThumbprint, let option = joined.last, option.hasPrefix("--"), option != "--", !option.contains("=") {
                joined[joined.count - 1] = option + "=" + argument
            } else {
                joined.append(argument)
            }
        }
        return joined
    }

    private static func fail(_ failure: CommandFailure) -> Never {
        let failure = failure.cut()
        giveJSON(of: failure)
        Terminal.talk("cordon: \(failure.message)")
        if let hint = failure.hint { Terminal.talk("  \(hint)") }
        end(failure.status)
    }

    private static func giveJSON(of failure: CommandFailure) {
        if CommandLine.arguments.contains("--json") { Terminal.json(failure) }
    }

    /// Ends as the parser would, but with this tool's own status for a wrong command line (TL-GN-02).
    private static func end(with error: any Error) -> Never {
        let code = exitCode(for: error)
        // The parser takes any other error for a failed check, which is an answer.
        if code == .failure, !(error is ExitCode) { fail(CommandFailure(.badInput, message(for: error))) }
        let text = LongArguments.cut(fullMessage(for: error))
        if code == .success {
            Terminal.data(lines: text)
        } else if !text.isEmpty {
            if code == .validationFailure { giveJSON(of: CommandFailure(.usage, message(for: error)).cut()) }
            Terminal.talk(lines: text)
        }
        guard let status = ExitStatus(rawValue: code == .validationFailure ? ExitStatus.usage.rawValue : code.rawValue)
        else { Foundation.exit(code.rawValue) }
        end(status)
    }

    /// Ends with a status; where it would count as an answer, and data was lost on its way to standard output, with the one that says so.
    private static func end(_ status: ExitStatus) -> Never {
        guard [.done, .notInWantedState].contains(status), let loss = Terminal.lossOfData else {
            Foundation.exit(status.rawValue)
        }
        Terminal.talk("cordon: standard output: \(loss)")
        Foundation.exit(ExitStatus.writeFailed.rawValue)
    }
}

/// The version that every part of the tool prints.
enum CordonVersion {
    static let current = CordonRelease.version
}
