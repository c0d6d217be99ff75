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
        #expect(
            Set(try FileManager.default.contentsOfDirectory(atPath: folder.url.path)) == ["keys", "note", "sealed"])
    }
}
