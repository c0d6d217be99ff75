import CordonDemo
import CordonPolicy
import CordonTestSupport
import Foundation
import Testing

/// `cordon audit verify` on a real service's export, and on what an insider could make of it.
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct AuditTests {
    private func verify(_ log: String, pin: String, in folder: URL) async throws -> Int32 {
        let file = folder.appending(path: "export-\(UUID().uuidString).jsonl")
        try Data(log.utf8).write(to: file)
        let process = try ChildProcess(Programs.cordon, ["audit", "verify", file.path, "--pin", pin])
        for await _ in process.lines {}
        return await process.wait()
    }

    @Test func `an export is accepted, and refused after an edit, a removal, a swap, or under another key`()
        async throws
    {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage)
            let registration = try await worker.requestWipe(on: stage)
            #expect(try await EnrolledWorker.wipeState(of: registration, on: stage) == "succeeded")
            let pin = try await stage.runningService().rootKey
            let log = String(decoding: try await stage.administrator().auditLog(), as: UTF8.self)
            let lines = log.split(separator: "\n").map(String.init)
            #expect(lines.count > 5)
            #expect(try await verify(log, pin: pin, in: stage.folder) == 0)

            var removed = lines
            removed.remove(at: 2)
            var swapped = lines
            swapped.swapAt(2, 3)
            let edited = lines.map { $0.replacing("policy.create", with: "policy.creatE") }
            let cut = lines.dropLast(2)
            for changed in [removed, swapped, edited, Array(cut)] {
                #expect(try await verify(changed.joined(separator: "\n") + "\n", pin: pin, in: stage.folder) == 1)
            }
            let other = (pin.first == "A" ? "B" : "A") + pin.dropFirst()
            #expect(try await verify(log, pin: other, in: stage.folder) == 1)
            #expect(try await verify("not a log\n", pin: pin, in: stage.folder) == 3)
        }
    }
}
