import CordonDemo
import CordonLeakScan
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

/// A wipe whose app is killed between any two steps ends wiped at the next start, with one receipt (SRV-CI-086).
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct WipeKillTests {
    private static let steps = [
        "vault-begun", "vault-asked", "vault-secretDestroyed", "vault-keyDestroyed", "vault-journalWritten",
        "vault-keyRecordRemoved", "vault-fileRemoved",
        "vault-filesRemoved", "vault-cachesRemoved", "vault-temporaryFilesRemoved", "vault-finished", "app", "receipt",
        "session", "registration", "hand-in", "put-away",
    ]

    @Test(arguments: steps) func `a wipe killed at a step is finished by the next start`(step: String) async throws {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage, options: ["--step"])
            let scan = LeakScan(count: 40, seed: 11)
            try await worker.app.ask("note plan \(scan.texts.joined(separator: " "))")
            #expect(try scan.leaks(below: stage.home(of: "worker")).texts == 0)
            let registration = try await worker.requestWipe(on: stage)

            var reached = false
            while !reached {
                let seen = try await worker.app.event("wipe-step")["step"]
                reached = seen == step
                if !reached { worker.app.process.send("") }
            }
            worker.app.process.signal(SIGKILL)
            #expect(await worker.app.process.wait() == -SIGKILL)

            let again = try await stage.managedApp("worker")
            #expect(try await EnrolledWorker.wipeState(of: registration, on: stage) == "succeeded")
            #expect(try await again.ask("use \(worker.account)").members["ok"]?.bool == false)
            #expect(
                try LeakScan.files(below: stage.home(of: "worker").appending(path: "protected/files").path).isEmpty)
            let operations = try await stage.administrator().operations(of: registration)
            #expect(operations.count == 1)
            let receipts = try await receipts(on: stage)
            #expect(Set(receipts).count == 1, "one receipt, however often it was handed in")
        }
    }

    /// The receipts in the audit log.
    private func receipts(on stage: DemoStage) async throws -> [String] {
        let log = String(decoding: try await stage.administrator().auditLog(), as: UTF8.self)
        return log.matches(of: /"receipt":"([^"]+)"/).map { String($0.output.1) }
    }
}
