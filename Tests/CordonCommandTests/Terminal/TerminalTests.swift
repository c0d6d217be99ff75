import CordonBase
import CordonIdentity
import CordonTestSupport
import Foundation
import Logging
import Testing

@testable import CordonCommand

/// What the tool lets through to a terminal: its own colours, and nothing that another program wrote.
@Suite struct TerminalTests {
    private let hostile = "a\u{1B}[2J\u{9B}31m\u{202E}\u{1B}[31mb"
    private let shown = #"a\u{1B}[2J\u{9B}31m\u{202E}\u{1B}[31mb"#

    @Test func `colours of the tool's own stay, and those that came with a text are shown as text`() {
        #expect(Style.rendered(Style.green("sound")) == "\u{1B}[32msound\u{1B}[0m")
        #expect(
            Style.rendered("1 \(Style.red(hostile)) 2 \(Style.dim("3"))")
                == "1 \u{1B}[31m\(shown)\u{1B}[0m 2 \u{1B}[2m3\u{1B}[0m")
        #expect(Style.rendered(hostile) == shown)
        #expect(Style.rendered("two\nlines\tand a tab") == "two\nlines\tand a tab")
        #expect(Style.rendered("") == "")
        #expect(Style.rendered(Style.red("a") + hostile, isColoured: false) == "a" + shown)
    }

    @Test(.enabled(if: builtCordon != nil && Program.python != nil, "needs the program, and Python for a terminal"))
    func `a file gets no colours where the other stream is a terminal`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let errors = folder.appending(path: "errors")
        let command = "exec \"$0\" serve config check --development --data-directory \"$1\" 2> \"$2\""
        let spawned = "import pty, sys; pty.spawn(['/bin/sh', '-c'] + sys.argv[1:])"
        let words = ["-c", spawned, command, try #require(builtCordon).path, folder.path, errors.path]
        _ = try Program.run(
            try #require(Program.python), words, environment: ["CORDON_LISTN": "127.0.0.1:1", "NO_COLOR": ""])
        let said = try String(contentsOf: errors, encoding: .utf8)
        #expect(said.contains("CORDON_LISTN in the environment") && !said.contains("\u{1B}"), "\(said)")
    }

    @Test func `what came with a text makes no line of its own where one line is written`() {
        let forged = "no such policy\ncordon: all is well\r\nand\u{2028}more\tof it"
        let line = #"no such policy\u{A}cordon: all is well\u{A}and\u{2028}more"# + "\tof it"
        #expect(Style.rendered(forged, onOneLine: true) == line)
        #expect(
            Style.rendered(Style.red("a\n") + forged, onOneLine: true) == "\u{1B}[31ma\\u{A}\u{1B}[0m" + line)
        // The control: a document of several lines stays one.
        #expect(Style.rendered("{\n  \"a\": 1\n}") == "{\n  \"a\": 1\n}")
    }

    @Test func `of a very long argument the beginning is shown, also where it is an option's value`() {
        let long = String(repeating: "x", count: 70_000)
        let shown = String(repeating: "x", count: 200) + "…"
        let arguments = ["cordon", "policy", "lint", long, "--name=y\(long)", "short"]
        #expect(
            LongArguments.cut("\(long): cannot be read, short", among: arguments) == "\(shown): cannot be read, short")
        #expect(
            LongArguments.cut("The value 'y\(long)' is none", among: arguments)
                == "The value 'y\(shown.dropFirst())' is none")
        let failure = CommandFailure(.badInput, "\(long): is none", hint: "Look at \(long).")
        #expect(failure.cut(among: arguments).message == "\(shown): is none")
        #expect(failure.cut(among: arguments).hint == "Look at \(shown).")
        #expect(failure.cut(among: arguments).status == .badInput)
        #expect(LongArguments.cut(long, among: ["cordon", "short"]) == long, "what no argument is stays whole")
    }

    @Test func `an error after an event is told as JSON too, each on a line of its own`() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder.make()
            defer { TemporaryFolder.remove(folder) }
            let file = folder.appending(path: "output")
            let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
            try #require(dup2(descriptor, STDOUT_FILENO) == STDOUT_FILENO)
            try Terminal.json(event: ["event": "browser"])
            Terminal.json(CommandFailure(.refused, "no"))
            Terminal.json(CommandFailure(.refused, "once"))
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            try #require(lines == [#"{"event":"browser"}"#, #"{"error":{"message":"no","status":4}}"#])
        }
    }

    @Test func `a log line stays one line, whatever stands in it`() {
        let written = Locked<[String]>([])
        var logger = Logger(label: "cordon.broker") { label in
            TextLogHandler(label: label) { line in written.withLock { $0.append(line) } }
        }
        logger.logLevel = .info
        logger.warning("refused \(hostile)", metadata: ["client": "x\nnotice cordon.broker: all is well"])
        let lines = written.withLock { $0 }
        #expect(lines.count == 1)
        #expect(lines[0].contains("warning cordon.broker: client=x\\u{A}notice cordon.broker: all is well ["))
        #expect(lines[0].hasSuffix("] refused \(shown)"))
    }
}
