import ArgumentParser
import CordonTestSupport
import Foundation
import Testing

@testable import CordonCommand

struct VaultCommandTests {
    /// A folder with a note in it, removed at the end.
    final class Folder {
        let url: URL
        let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 13) })

        init() throws {
            url = try TemporaryFolder.make()
            try content.write(to: url.appendingPathComponent("note"))
        }

        deinit { TemporaryFolder.remove(url) }

        func path(_ name: String) -> String { url.appendingPathComponent(name).path }

        var names: [String] {
            get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
        }

        func data(_ name: String) throws -> Data { try Data(contentsOf: url.appendingPathComponent(name)) }

        /// Runs `cordon vault` with these words; its exit status.
        func run(_ words: String...) async throws -> CordonCommand.ExitStatus {
            var command = try VaultCommand.parseAsRoot(words)
            do {
                if var asynchronous = command as? any AsyncParsableCommand {
                    try await asynchronous.run()
                } else {
                    try command.run()
                }
                return .done
            } catch let failure as CommandFailure {
                return failure.status
            }
        }

        func seal(_ account: String = "ada@example.test") async throws -> CordonCommand.ExitStatus {
            try await run("seal", "--account", account, "--keys", path("keys"), path("note"), path("sealed"))
        }
    }

    @Test func `what was sealed opens again, and only with its keys`() async throws {
        let folder = try Folder()
        #expect(try await folder.seal() == .done)
        #expect(try folder.data("sealed").range(of: folder.content.prefix(64)) == nil)
        let open = ["open", "--account", "ADA@example.test", "--keys"]
        #expect(
            try await folder.run(
                open[0], open[1], open[2], open[3], folder.path("keys"), folder.path("sealed"), folder.path("out"))
                == .done)
        #expect(try folder.data("out") == folder.content)
        #expect(
            try await folder.run(
                open[0], open[1], open[2], open[3], folder.path("other"), folder.path("sealed"), folder.path("none"))
                == .refused)
        #expect(!FileManager.default.fileExists(atPath: folder.path("none")))
    }

    @Test(.enabled(if: builtCordon != nil && Program.python != nil, "needs the program, and Python for a terminal"))
    func `a terminal obeys nothing of an opened file, and a pipe gets its bytes`() async throws {
        let folder = try Folder()
        let text = Data("plan\u{1B}[2J\u{9B}31m\n".utf8)
        try text.write(to: folder.url.appendingPathComponent("note"))
        #expect(try await folder.seal() == .done)
        let words = [
            try #require(builtCordon).path, "vault", "open", "--account", "ada@example.test", "--keys",
            folder.path("keys"), folder.path("sealed"), "-",
        ]
        let script = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]))"
        let shown = try Program.runPython(["-c", script] + words)
        #expect(shown.text.contains(#"plan\u{1B}[2J\u{9B}31m"#) && !shown.output.contains(0x1B), "\(shown.everything)")
        #expect(try await Program.run(words[0], Array(words.dropFirst())).output == text)
    }

    @Test func `another account's file is refused`() async throws {
        let folder = try Folder()
        _ = try await folder.seal()
        let status = try await folder.run(
            "open", "--account", "ben@example.test", "--keys", folder.path("keys"), folder.path("sealed"),
            folder.path("out"))
        #expect(status == .refused)
    }

    @Test func `verify finds a changed block only with keys, a cut file without`() async throws {
        let folder = try Folder()
        _ = try await folder.seal()
        #expect(try await folder.run("verify", "--keys", folder.path("keys"), folder.path("sealed")) == .done)
        var changed = try folder.data("sealed")
        changed[100_000] ^= 1
        try changed.write(to: folder.url.appendingPathComponent("changed"))
        try changed.dropLast(1).write(to: folder.url.appendingPathComponent("cut"))
        #expect(try await folder.run("verify", folder.path("changed")) == .done)
        #expect(
            try await folder.run("verify", "--keys", folder.path("keys"), folder.path("changed")) == .notInWantedState)
        #expect(try await folder.run("verify", folder.path("cut")) == .notInWantedState)
        #expect(try await folder.run("verify", folder.path("note")) == .badInput)
        let open = try await folder.run(
            "open", "--account", "ada@example.test", "--keys", folder.path("keys"), folder.path("changed"),
            folder.path("out"))
        #expect(open == .badInput)
        #expect(!FileManager.default.fileExists(atPath: folder.path("out")))
    }

    @Test func `inspect needs a sealed file`() async throws {
        let folder = try Folder()
        _ = try await folder.seal()
        #expect(try await folder.run("inspect", folder.path("sealed"), "--json") == .done)
        #expect(try await folder.run("inspect", folder.path("note")) == .badInput)
        #expect(try await folder.run("inspect", folder.path("absent")) == .badInput)
    }

    @Test func `inspect and verify know a sealed database`() async throws {
        let folder = try Folder()
        let vectors = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Vectors/vault/bases")
        let database = vectors.appendingPathComponent("database").path
        #expect(try await folder.run("inspect", database, "--json") == .done)
        #expect(try await folder.run("inspect", database) == .done)
        #expect(try await folder.run("verify", database, "--json") == .done)
        // Sealed under keys that are not in this folder: nothing is proved.
        _ = try await folder.seal()
        #expect(try await folder.run("verify", "--keys", folder.path("keys"), database) == .notInWantedState)
        try Data(contentsOf: URL(fileURLWithPath: database)).dropLast(1).write(
            to: URL(fileURLWithPath: folder.path("cut")))
        #expect(try await folder.run("inspect", folder.path("cut")) == .badInput)
        #expect(try await folder.run("verify", folder.path("cut")) == .notInWantedState)
    }

    @Test func `the work leaves nothing beside its output`() async throws {
        let folder = try Folder()
        _ = try await folder.seal()
        #expect(try folder.names == ["keys", "note", "sealed"])
    }

    @Test func `work that is told to stop leaves nothing beside its output`() async throws {
        let folder = try Folder()
        await #expect(processExitsWith: .exitCode(128 + SIGTERM)) { [path = folder.path("sealed") as String] in
            let scratch = try VaultScratch(for: path)
            try Data(count: 1).write(to: URL(filePath: scratch.path))
            kill(getpid(), SIGTERM)
            // The signal ends this long before.
            try await Task.sleep(for: .seconds(300))
        }
        #expect(try folder.names == ["note"])
    }

    @Test(arguments: ["seal", "open"]) func `an output that is no file is left as it is, also behind a link`(
        verb: String
    ) async throws {
        let folder = try Folder()
        _ = try await folder.seal()
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link"), withDestinationPath: folder.path("pipe"))
        let input = folder.path(verb == "seal" ? "note" : "sealed")
        for output in ["pipe", "link"] {
            let status = try await folder.run(
                verb, "--account", "ada@example.test", "--keys", folder.path("keys"), input, folder.path(output))
            #expect(status == .refused)
        }
        let kinds = try ["pipe", "link"].map { name in
            try FileManager.default.attributesOfItem(atPath: folder.path(name))[.type] as? FileAttributeType
        }
        #expect(!kinds.contains(.typeRegular))
        #expect(try folder.names == ["keys", "link", "note", "pipe", "sealed"])
    }

    @Test func `a link to a file is replaced, and the file is not`() async throws {
        let folder = try Folder()
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("sealed"), withDestinationPath: folder.path("note"))
        #expect(try await folder.seal() == .done)
        #expect(try folder.data("note") == folder.content)
    }

    @Test func `a file that is not sealed is called by its name`() async throws {
        let folder = try Folder()
        _ = try await folder.seal()
        let note = folder.path("note")
        let keys = ["--account", "ada@example.test", "--keys", folder.path("keys")]
        for words in [["inspect", note], ["open"] + keys + [note, folder.path("out")]] {
            var command = try #require(try VaultCommand.parseAsRoot(words) as? any AsyncParsableCommand)
            do {
                try await command.run()
                Issue.record("it was opened")
            } catch let failure as CommandFailure {
                #expect(failure.status == .badInput && failure.message.hasPrefix(note + ": "))
            }
        }
    }

    @Test func `to read makes no keys`() async throws {
        let folder = try Folder()
        _ = try await folder.seal()
        let words = ["--keys", folder.path("none")]
        let opened = try await folder.run(
            "open", "--account", "ada@example.test", words[0], words[1], folder.path("sealed"), folder.path("out"))
        #expect(opened == .refused)
        #expect(try await folder.run("verify", words[0], words[1], folder.path("sealed")) == .refused)
        #expect(try folder.names == ["keys", "note", "sealed"])
    }

    @Test func `an output that cannot be written is called by the name that it was given`() async {
        await #expect(processExitsWith: .success) {
            let folder = try Folder()
            let absent = #expect(throws: CommandFailure.self) { try VaultScratch(for: folder.path("no/sealed")) }
            #expect(absent?.status == .writeFailed && absent?.message.hasPrefix(folder.path("no/sealed") + ":") == true)
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 64 << 10, rlim_max: 64 << 10)
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            let words = [
                "seal", "--account", "ada", "--keys", folder.path("keys"), folder.path("note"), folder.path("b"),
            ]
            let command = try #require(try VaultCommand.parseAsRoot(words) as? VaultSealCommand)
            let failure = await #expect(throws: CommandFailure.self) { try await command.run() }
            try #require(failure?.status == .writeFailed)
            try #require(failure?.message.hasPrefix(folder.path("b") + ":") == true)
            try #require(try folder.names == ["keys", "note"])
        }
    }
}
