import ArgumentParser
import CordonDemo
import CordonProtocol
import Foundation

/// `cordon demo`: the story of the README against a real service and real app processes.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Show what Cordon does with real processes, and check every step.",
        discussion: """
            Starts the service and the example app, plays an administrator and a worker, and measures each step. The last \
            line says how many expectations were met; the exit status is 0 only when all were.

            Example: cordon demo --json
            """)

    @Flag(help: "Print one JSON document with every step instead of text.")
    var json = false

    @Option(help: "The seed of the planted texts; the same seed plants the same texts.")
    var seed: UInt64 = 1

    @Flag(help: "Keep the folder that the demo worked in, and print where it is.")
    var keep = false

    @Flag(
        help:
            "Keep the service running at the end, with a link that opens its console signed in, until Return is pressed."
    )
    var stay = false

    @Option(help: "The example app to run; by default FieldNotes beside this tool.")
    var app: String?

    func run() async throws {
        let tool = try Self.ownExecutable()
        let app = self.app.map { URL(filePath: $0) } ?? tool.deletingLastPathComponent().appending(path: "FieldNotes")
        guard FileManager.default.isExecutableFile(atPath: app.path) else {
            throw CommandFailure(
                .badInput, "there is no example app at \(app.path)",
                hint: "Build it with `make programs` or `swift build`, or name one with --app.")
        }
        // A service that is left behind would run on.
        let scratch = try ScratchFolder(isKept: keep, stopping: ChildProcess.endAll)
        defer { scratch.remove() }
        let steps: [DemoStep]
        do {
            let story = DemoStory(.init(cordon: tool, app: app, seed: seed, folder: scratch.url))
            let text = !json
            var wait: (@Sendable (DemoConsole) async -> Void)?
            if stay { wait = { await Self.wait(at: $0) } }
            steps = try await story.tell({ step in if text { DemoPrinter.print(step) } }, stay: wait)
        } catch {
            throw CommandFailure(.notInWantedState, error.reason, hint: error.hint)
        }
        if keep { Terminal.talk("kept in \(scratch.url.path)") }
        let met = steps.flatMap(\.expectations)
        if json {
            try Terminal.json(DemoReport(seed: seed, steps: steps))
        } else {
            DemoPrinter.printEnd(steps)
        }
        if met.contains(where: { !$0.held }) { throw ExitCode(ExitStatus.notInWantedState.rawValue) }
    }

    /// Says how to open the console, and waits for a line or the end of standard input.
    private static func wait(at console: DemoConsole) async {
        Terminal.talk("Open the console, signed in: \(console.link.absoluteString)")
        Terminal.talk("The link works once. Later, open \(console.address.absoluteString)")
        Terminal.talk("and sign in as \(console.name) with the password \(console.password)")
        Terminal.talk("Press Return to end the demo.")
        await withCheckedContinuation { ended in
            Thread.detachNewThread {
                _ = readLine()
                ended.resume()
            }
        }
    }

    /// This program's own file, so that the demo runs the build that it is part of.
    private static func ownExecutable() throws -> URL {
        guard let path = Bundle.main.executableURL else {
            throw CommandFailure(.badInput, "this tool cannot find its own file")
        }
        return path.resolvingSymlinksInPath()
    }
}

/// What `cordon demo --json` prints.
private struct DemoReport: Encodable {
    let seed: UInt64
    let steps: [DemoStep]
    let expectations: Int
    let met: Int
    let milliseconds: Double

    init(seed: UInt64, steps: [DemoStep]) {
        self.seed = seed
        self.steps = steps
        expectations = steps.flatMap(\.expectations).count
        met = steps.flatMap(\.expectations).filter(\.held).count
        milliseconds = steps.map(\.milliseconds).reduce(0, +)
    }
}
