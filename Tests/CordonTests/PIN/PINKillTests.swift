import CordonBase
import CordonPolicy
import CordonTestSupport
import CordonVault
import Foundation
import Testing

@testable import Cordon

/// Reliability AUTH-2: a process is killed by another one at every step of a check; no guess is ever free.
@Suite struct PINKillTests {
    private static let steps = ["read", "count", "counted", "derive", "refused"]
    private static let limit = 5

    /// A folder with a PIN that only the right guess opens.
    private struct Lock {
        let path: String

        func keeper(observer: @escaping @Sendable (String) -> Void = { _ in }) throws -> PINKeeper {
            // Guesses may follow each other at once here: what is counted is the number of guesses, not their pace.
            let uptime = Locked(Duration.seconds(1_000_000))
            let clock = ProtectionClock(
                now: { Date() }, sleep: { _ in },
                boot: {
                    let now = uptime.withLock { uptime in
                        uptime += .seconds(10_000)
                        return uptime
                    }
                    return BootReading(boot: UUID().uuidString, uptime: now)
                })
            return PINKeeper(
                folder: try StateFolder(URL(filePath: path + "/pins")),
                seal: StateSeal(
                    keyStore: FileKeyStore(directory: URL(filePath: path + "/keys")),
                    folder: try StateFolder(URL(filePath: path + "/life")),
                    counter: try FileStateCounter(directory: URL(filePath: path + "/counters")),
                    bundleID: "example.notes"),
                clock: clock,
                cost: PINCost(logRounds: 1), observer: observer)
        }

        func lines(_ name: String) -> [String] {
            let text = (try? String(contentsOfFile: path + "/" + name, encoding: .utf8)) ?? ""
            return text.split(separator: "\n").map(String.init)
        }

        func failed() throws -> Int {
            guard case .value(let record) = try keeper().contents(of: "oid-a") else { return -1 }
            return Int(record.failed)
        }
    }

    private func lock() async throws -> Lock {
        let folder = try TemporaryFolder.make()
        let lock = Lock(path: folder.path)
        #expect(
            try await lock.keeper().set(
                "2580", of: "oid-a", requirements: PINRequirements(AccessRequirements())
            ).isEmpty)
        return lock
    }

    /// One process that guesses until it is killed, the given number of steps after its start.
    private func guess(in lock: Lock, until victim: Int) async {
        let path = lock.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, victim = victim as Int] in
            let left = Locked(victim)
            let keeper = try Lock(path: path).keeper { step in
                note(step, in: path + "/log")
                if left.withLock({ left in
                    left -= 1
                    return left < 0
                }) {
                    Program.dieByAnotherHand()
                }
            }
            while try await keeper.check("0000", of: "oid-a", limit: 5) != .exhausted {}
            // Nothing is left to guess: this process ends like the others.
            note("exhausted", in: path + "/log")
            Program.dieByAnotherHand()
        }
    }

    @Test(.timeLimit(.minutes(30))) func `killed at any step, a thief gets no more guesses than the policy allows`()
        async throws
    {
        let run = DeepRun(plain: 300, deep: 10_000)
        var hit: Set<String> = []
        var done = 0
        var round = 0
        var isOver = false
        while !isOver {
            let lock = try await lock()
            defer { try? FileManager.default.removeItem(atPath: lock.path) }
            round += 1
            while lock.lines("log").last != "exhausted" {
                isOver = run.next() == nil
                if isOver { break }
                await guess(in: lock, until: (done * 7 + round) % 11)
                done += 1
                let log = lock.lines("log")
                let derivations = log.count { $0 == "derive" }
                let failed = try lock.failed()
                #expect(derivations <= failed, "a guess was tried that was not counted: \(log)")
                #expect(log.count { $0 == "counted" } <= failed)
                #expect(failed <= Self.limit)
                hit.formUnion(log)
            }
            #expect(lock.lines("log").count { $0 == "derive" } <= Self.limit)
            if lock.lines("log").last == "exhausted" {
                #expect(try await lock.keeper().check("2580", of: "oid-a", limit: Self.limit) == .exhausted)
            }
        }
        #expect(hit.isSuperset(of: Self.steps + ["exhausted"]), "every step must have been hit")
        run.finish("kills while a PIN was checked")
    }

    @Test func `killed between recognising the PIN and clearing the counter, a guess is lost and none is won`()
        async throws
    {
        let lock = try await lock()
        defer { try? FileManager.default.removeItem(atPath: lock.path) }
        let path = lock.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let keeper = try Lock(path: path).keeper { if $0 == "recognised" { Program.dieByAnotherHand() } }
            _ = try await keeper.check("2580", of: "oid-a", limit: 5)
        }
        #expect(try lock.failed() == 1)
        #expect(try await lock.keeper().check("2580", of: "oid-a", limit: 5) == .right)
        #expect(try lock.failed() == 0)
    }
}

/// Adds a line to a file, so that a process that dies has said where.
private func note(_ line: String, in path: String) {
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
    _ = (line + "\n").withCString { write(descriptor, $0, strlen($0)) }
    close(descriptor)
}
