import CordonDemo
import CordonLeakScan
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

/// Programs whose standard output or error is full, closed, or read by no one any more.
@Suite(
    .tags(.machineAlone), .serialized, .timeLimit(.minutes(10)),
    .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "needs a device that is always full"))
struct StandardStreamsTests {
    /// Runs a program with a shell's redirections to its end.
    private func run(
        _ program: URL, _ arguments: [String], _ redirections: String, input: String
    ) async throws -> Program.Result {
        try await Program.run(
            "/bin/sh", ["-c", "exec \"$@\" \(redirections)", "sh", program.path] + arguments, input: Data(input.utf8))
    }

    @Test(arguments: [">/dev/full", "2>/dev/full >/dev/full", ">&-", "2>&- >&-"], ["", "--json"])
    func `an app that can say nothing does what it is told to its end`(
        _ redirections: String, _ style: String
    ) async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let style = style.isEmpty ? [] : [style]
        let notes = try await run(
            Programs.fieldNotes, ["--home", folder.path] + style, redirections, input: "nonsense\nnote a text\nquit\n")
        #expect(notes.status == 0 && !notes.wasSignalled, "\(notes.everything)")
        #expect(try String(contentsOf: folder.appending(path: "personal-notes/a"), encoding: .utf8) == "text")

        let board = try await run(
            Programs.shiftBoard,
            ["--home", folder.path, "--socket", folder.appending(path: "none").path, "--development"] + style,
            redirections, input: "account\nquit\n")
        #expect(board.status == 0 && !board.wasSignalled, "\(board.everything)")
    }

    @Test(arguments: ["2>/dev/full", "2>&-", "<&- >&- 2>&-"])
    func `an app that cannot say why it ends has the status that says it`(_ redirections: String) async throws {
        for program in [Programs.fieldNotes, Programs.shiftBoard] {
            let refused = try await run(program, ["--no-such-option"], redirections, input: "")
            #expect(refused.status == 2 && !refused.wasSignalled, "\(program): \(refused.everything)")
        }
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let pin = String(repeating: "A", count: 43)
        let alone = try await run(
            Programs.fieldNotes, ["--home", folder.path, "--service", "http://127.0.0.1:1", "--pin=\(pin)"],
            redirections, input: "")
        #expect(alone.status == 3 && !alone.wasSignalled, "\(alone.everything)")
    }

    @Test(arguments: [">/dev/full", ">&-", "<&- >&-", ">&- 2>&-"])
    func `a tool that cannot write its answer ends with the status of a failed write`(_ redirections: String)
        async throws
    {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let (policy, question) = (folder.appending(path: "policy.json"), folder.appending(path: "question.json"))
        try Data(#"{"displayName":"x","printBlocked":true}"#.utf8).write(to: policy)
        try Data(#"{"action":"print"}"#.utf8).write(to: question)
        for arguments in [
            ["--version"], ["help", "demo"],
            ["policy", "explain", "--policy", policy.path, "--question", question.path, "--json"],
        ] {
            let told = try await run(Programs.cordon, arguments, "", input: "")
            #expect(told.status == 0 && !told.text.isEmpty, "the control: \(told.everything)")
            let lost = try await run(Programs.cordon, arguments, redirections, input: "")
            #expect(lost.status == 5 && !lost.wasSignalled, "\(arguments): \(lost.everything)")
            #expect(lost.everything.contains("standard output: ") != redirections.contains("2>&-"))
            // What was wrong before anything was to be written keeps its status.
            let wrong = try await run(Programs.cordon, ["policy", "explain", "--json"], redirections, input: "")
            #expect(wrong.status == 2, "\(wrong.everything)")
        }
    }

    @Test func `a fault ends a tool at once, and no registers are in what it says`() async throws {
        let tool = try ChildProcess(
            Programs.cordon, ["activation-rule", "-"], environment: ["SWIFT_BACKTRACE": "enable=yes"])
        tool.send("TRUEPREDICATE")
        // Once the tool has taken the line it waits for the end of its input.
        let input = open("/proc/\(tool.id)/fd/0", O_RDONLY | O_CLOEXEC)
        defer { close(input) }
        try await until(every: .milliseconds(5), within: .seconds(60)) {
            var unread: CInt = 0
            // `FIONREAD`, which is in no module.
            try #require(ioctl(input, 0x541B, &unread) == 0)
            return unread == 0
        }
        tool.signal(SIGSEGV)
        #expect(await tool.wait() == -SIGSEGV)
        let said = await tool.standardErrorTail
        #expect(!said.contains("crashed") && !said.contains(" 0x0000"), "\(said)")
    }

    @Test func `a wipe reaches an app whose reader is gone`() async throws {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage)
            try await worker.app.ask("note plan the organisation's plan")
            await worker.app.end()

            let reader = "\"$@\" | sed -u '/\"ready\"/q'"
            let app = try await stage.managedApp("worker", by: ["/bin/sh", "-c", reader, "sh"])
            // The answer finds no reader, and the app goes on.
            app.process.send("notes")
            let registration = try await worker.requestWipe(on: stage)
            #expect(try await EnrolledWorker.wipeState(of: registration, on: stage) == "succeeded")
            #expect(
                try LeakScan.files(below: stage.home(of: "worker").appending(path: "protected/files").path).isEmpty)
            app.process.closeInput()
            _ = await app.process.wait()
        }
    }

    @Test func `no file that a program opens takes the number of a stream that was closed`() async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let service = try ChildProcess(
            URL(filePath: "/bin/sh"),
            [
                "-c", "exec \"$@\" <&- >&- 2>&-", "sh", Programs.cordon.path, "serve", "--development", "--listen",
                "127.0.0.1:0", "--data-directory", folder.path,
            ])
        try? await until(every: .milliseconds(25), within: .seconds(60)) {
            FileManager.default.fileExists(atPath: folder.appending(path: "passwords.txt").path)
        }
        let files = (0...2).map { number in
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(service.id)/fd/\(number)")
        }
        await service.end()
        #expect(files == ["/dev/null", "/dev/null", "/dev/null"])
    }
}
