import ArgumentParser
import CordonIdentity
import CordonSignIn
import CordonTerminal
import Foundation

/// A board of remarks for the worker on shift: a small app in a terminal that shows what an app does on a device that
/// many people share. Nothing in it knows a token.
@main
struct ShiftBoard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ShiftBoard", abstract: "Remarks of one shift; gone when the shift's worker signs out.",
        discussion: "Type `help` once it runs. The socket is what `cordon broker run` prints.")

    @Option(help: "The broker's socket.")
    var socket: String

    @Option(help: "Where the app keeps everything.")
    var home = FileManager.default.homeDirectoryForCurrentUser.appending(path: ".shiftboard").path

    @Option(help: "The client id by which the broker knows this app.")
    var clientID = "shiftboard"

    @Option(help: "A resource that other apps of the device need, so that the one sign-in covers it.")
    var resource: String?

    @Option(help: "A scope of that resource; may repeat.")
    var scope: [String] = []

    @Flag(help: "Trust a broker that runs as your own user; for development.")
    var development = false

    @Flag(help: "Answer every command with one JSON object on a line.")
    var json = false

    @Flag(help: "Do not follow the broker's events, like an app that is suspended.")
    var suspended = false

    @Flag(help: "Stop before each step of a clean-up until a file named after it appears in the home folder.")
    var step = false

    func run() async throws {
        let output = Output(json: json)
        let board: Board
        do { board = try Board(options: self, output: output) } catch {
            Output.write("ShiftBoard: \(TerminalText(Output.words(for: error)))", to: .standardError)
            throw ExitCode(3)
        }
        let following = suspended ? nil : Task { await board.follow() }
        output.tell("ready", [:])
        var signingIn: Task<Void, Never>?
        for await line in Self.typedLines() {
            switch line {
            case "cancel": signingIn?.cancel()
            case "sign-in":
                await signingIn?.value
                signingIn = Task { await board.carryOut(line) }
                continue
            default: break
            }
            if line == "quit" { signingIn?.cancel() }
            await signingIn?.value
            if line == "quit" { break }
            if line != "cancel" { await board.carryOut(line) }
        }
        signingIn?.cancel()
        following?.cancel()
    }

    /// Runs the app. A wrong command line ends it with status 2, as it ends `cordon`.
    static func main() async {
        TerminalInterface.prepareStandardStreams()
        do {
            var command = try parseAsRoot()
            if let app = command as? ShiftBoard { try await app.run() } else { try command.run() }
        } catch {
            guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
            let message = TerminalText(fullMessage(for: error), as: .prose, limit: 4_000)
            Output.write("\(message)", to: .standardError)
            Foundation.exit(2)
        }
    }

    /// Standard input line by line, read on a thread of its own, because a read blocks.
    private static func typedLines() -> AsyncStream<String> {
        let (lines, typed) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            while let line = readLine() { typed.yield(line) }
            typed.finish()
        }
        return lines
    }
}
