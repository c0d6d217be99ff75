import CordonDemo
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

/// The service killed with SIGKILL: what it acknowledged is there when it starts again.
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct ServiceKillTests {
    @Test func `a policy that was acknowledged survives SIGKILL, and apps reconnect by themselves`() async throws {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage)
            let port = try #require(try await stage.runningService().address.port)
            try await stage.administrator().change(worker.policy, .object(["displayName": .string("Before the crash")]))
            await stage.killService()
            _ = try await stage.runningService(port: port)
            let policy = try await stage.administratorAgain().policy(worker.policy)
            #expect(policy["displayName"]?.string == "Before the crash")

            await worker.app.forgetEvents("policyChanged")
            try await stage.administrator().change(worker.policy, .object(["printBlocked": .bool(false)]))
            // The embedded provider forgets sessions when it is killed; the app still has a valid access token.
            _ = try await worker.app.event("policyChanged")
        }
    }

    @Test func `a wipe that was acknowledged survives SIGKILL and is carried out afterwards`() async throws {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage)
            let port = try #require(try await stage.runningService().address.port)
            await worker.app.end()
            let registration = try await worker.requestWipe(on: stage)
            await stage.killService()
            _ = try await stage.runningService(port: port)
            let operations = try await stage.administratorAgain().operations(of: registration)
            #expect(operations.first?["state"]?.string == "pending")
        }
    }

    @Test func `a service killed in the middle of publishes keeps every one it acknowledged`() async throws {
        try await Programs.onStage { stage in
            let policy = try await EnrolledWorker.publish([:], on: stage)
            let administrator = try await stage.administrator()
            let (writes, done) = AsyncStream.makeStream(of: Int.self)
            let acknowledged = Task {
                var last = 0
                for number in 1...500 {
                    let name: JSONValue = .object(["displayName": .string("number \(number)")])
                    guard (try? await administrator.change(policy, name)) != nil else { break }
                    last = number
                    done.yield(number)
                }
                done.finish()
                return last
            }
            // In the middle, however fast the machine writes.
            for await number in writes where number >= 5 { break }
            await stage.killService()
            let last = await acknowledged.value
            #expect(last > 0 && last < 500, "the kill fell among the writes: \(last)")
            _ = try await stage.runningService()
            let name = try await stage.administratorAgain().policy(policy)["displayName"]?.string
            // The write under way when the service died may have been kept without having been acknowledged.
            #expect(["number \(last)", "number \(last + 1)"].contains(name ?? "none"))
        }
    }

    @Test(.enabled(if: Checker.isInstalled, "needs Python with the package cryptography"))
    func `a service killed again and again among writes of every kind loses nothing and does nothing twice`()
        async throws
    {
        let folder = TemporaryFolder.newPath()
        defer { try? FileManager.default.removeItem(at: folder) }
        let isDeep = ProcessInfo.processInfo.environment["CORDON_DEEP"] == "1"
        let (status, words) = try await Checker.run(folder, rounds: isDeep ? 60 : 3)
        #expect(status == 0, "\(words)")
        #expect(words.contains("every expectation held"), "\(words)")
    }

    @Test func `a service killed among check-ins goes on with higher sequences, and no envelope is refused`()
        async throws
    {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage)
            let port = try #require(try await stage.runningService().address.port)
            let before = try #require(try await worker.app.event("policyChanged").members["sequence"]?.integer)
            for round in 0..<3 {
                let asking = Task { for _ in 0..<30 { _ = try? await worker.app.ask("check-in") } }
                try await stage.administratorAgain().change(
                    worker.policy, .object(["printBlocked": .bool(round.isMultiple(of: 2))]))
                await stage.killService()
                await asking.value
                _ = try await stage.runningService(port: port)
            }
            await worker.app.forgetEvents("policyChanged")
            try await stage.administratorAgain().change(worker.policy, .object(["printBlocked": .bool(false)]))
            let after = try await worker.app.event("policyChanged")
            #expect(try #require(after.members["sequence"]?.integer) > before)
            #expect(await worker.app.hasHappened("envelopeRefused") == false)
        }
    }

    @Test func `a damaged store is a clear error, and the file stays as it is`() async throws {
        try await Programs.onStage { stage in
            _ = try await stage.runningService()
            await stage.killService()
            let file = stage.serviceFolder.appending(path: "service.sqlite")
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
            let damaged = Data(
                "this is not a database, and it is longer than one hundred bytes so that it is not taken for new. ".utf8
            )
            try (damaged + damaged).write(to: file)
            let error = await #expect(throws: ProgramError.self) { _ = try await stage.runningService() }
            #expect(
                error?.reason.contains("status 3") == true || error?.reason.contains("status 5") == true,
                "\(String(describing: error))")
            #expect(FileManager.default.contents(atPath: file.path) == damaged + damaged)
        }
    }
}

/// A program in another language that writes to a service, kills it and compares; nothing of it is the service's own code.
private enum Checker {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Clients/kill_checker.py")
    static let isInstalled = Program.hasPython(with: "cryptography")

    /// Runs it to its end; its status, and the last of what it said.
    static func run(_ folder: URL, rounds: Int) async throws -> (status: Int32, words: String) {
        let process = try ChildProcess(
            URL(filePath: "/usr/bin/env"),
            [Program.python ?? "python3", "-B", script.path, Programs.cordon.path, folder.path, String(rounds)])
        var said: [String] = []
        for await line in process.lines { said.append(line) }
        let status = await process.wait()
        return (status, (said.suffix(5) + [await process.standardErrorTail]).joined(separator: "\n"))
    }
}
