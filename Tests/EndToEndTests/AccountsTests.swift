import CordonDemo
import CordonLeakScan
import CordonPolicy
import CordonTestSupport
import Foundation
import Testing

/// What one account's wipe does to everything else on the device.
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct AccountsTests {
    @Test func `after a wipe none of 1,000 planted texts is left, and another account is byte for byte the same`()
        async throws
    {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage)
            let scan = LeakScan(count: 1_000, seed: 3)
            for number in 0..<20 {
                let texts = scan.texts[number * 50..<number * 50 + 50].joined(separator: " ")
                try await worker.app.ask("note n\(number) \(texts)")
            }
            let second = try await stage.signIn(try stage.worker("b"), in: worker.app)
            let other = try #require(second["account"])
            try await worker.app.ask("note mine what the other account keeps")
            try await worker.app.ask("use personal")
            try await worker.app.ask("note own something personal")
            let folder = stage.home(of: "worker").appending(path: "protected/files")
            let before = try contents(of: folder)
            #expect(try scan.leaks(below: stage.home(of: "worker")).texts == 0, "sealed, before anything is wiped")

            let registration = try await worker.requestWipe(on: stage)
            _ = try await worker.app.event("wipeFinished")
            #expect(try await EnrolledWorker.wipeState(of: registration, on: stage) == "succeeded")

            #expect(try scan.leaks(below: stage.home(of: "worker")).texts == 0)
            let after = try contents(of: folder)
            #expect(!after.isEmpty && after.count < before.count)
            #expect(after.allSatisfy { before[$0.key] == $0.value })
            try await worker.app.ask("use \(other)")
            #expect(try await worker.app.ask("show mine")["text"] == "what the other account keeps")
            try await worker.app.ask("use personal")
            #expect(try await worker.app.ask("show own")["text"] == "something personal")

            // The control: the same scanner finds every one in the clear.
            let plain = stage.folder.appending(path: "plain")
            try FileManager.default.createDirectory(at: plain, withIntermediateDirectories: true)
            try Data(scan.texts.joined(separator: "\n").utf8).write(to: plain.appending(path: "all"))
            #expect(try scan.leaks(below: plain).texts == 1_000)
        }
    }

    @Test func `a restarted app has its rules and its notes`() async throws {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage)
            try await worker.app.ask("note plan the plan")
            await worker.app.end()
            let again = try await stage.managedApp("worker")
            try await again.ask("use \(worker.account)")
            #expect(try await again.ask("show plan")["text"] == "the plan")
            #expect(try await again.ask("print plan")["verdict"] == "block")
        }
    }

    @Test func `an account that signs in again keeps its notes, hears of new rules, and can be wiped`() async throws {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage)
            try await worker.app.ask("note plan the plan")
            // The sign-in brings a new key, by which the service does not know the registration.
            let again = try await stage.signIn(try stage.worker(), in: worker.app, typing: "remediate")
            #expect(again.members["status"]?.integer == 0)
            try await worker.change(["printBlocked": .bool(false)], on: stage)
            #expect(try await worker.app.ask("show plan")["text"] == "the plan")
            #expect(try await worker.app.ask("print plan").members["ok"]?.bool == true)
            let registration = try await worker.requestWipe(on: stage)
            _ = try await worker.app.event("wipeFinished")
            #expect(try await EnrolledWorker.wipeState(of: registration, on: stage) == "succeeded")
        }
    }

    @Test func `who signs in again after a wipe hears of new rules and of the next wipe at once`() async throws {
        try await Programs.onStage { stage in
            var worker = try await EnrolledWorker.begin(on: stage)
            _ = try await worker.requestWipe(on: stage)
            _ = try await worker.app.event("wipeFinished")

            let again = try await stage.signIn(try stage.worker(), in: worker.app)
            worker = EnrolledWorker(
                app: worker.app, account: try #require(again["account"]), policy: worker.policy)
            await worker.app.forgetEvents("policyChanged")
            try await stage.administrator().change(worker.policy, .object(["printBlocked": .bool(false)]))
            _ = try await worker.app.event("policyChanged")
            let registration = try await worker.requestWipe(on: stage)
            _ = try await worker.app.event("wipeFinished")
            #expect(try await EnrolledWorker.wipeState(of: registration, on: stage) == "succeeded")
        }
    }

    @Test func `an app that starts without a network has its rules and its notes`() async throws {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage)
            try await worker.app.ask("note plan the plan")
            await worker.app.end()
            let service = try await stage.runningService()
            await stage.killService()
            let again = try await stage.managedApp("worker", knowing: service)
            try await again.ask("use \(worker.account)")
            #expect(try await again.ask("show plan")["text"] == "the plan")
            #expect(try await again.ask("print plan")["verdict"] == "block")
            #expect(try await again.ask("check-in").members["status"]?.integer == 212)
        }
    }

    @Test func `an account signs in with a code that is typed into a browser elsewhere`() async throws {
        try await Programs.onStage { stage in
            _ = try await EnrolledWorker.publish(["printBlocked": .bool(true)], on: stage)
            let app = try await stage.managedApp("worker")
            let answer = try await stage.signIn(try stage.worker(), in: app, withCode: true)
            #expect(answer.members["status"]?.integer == 100)
            #expect(try await app.ask("status").members["managed"]?.bool == true)
        }
    }

    private func contents(of folder: URL) throws -> [String: Data] {
        try LeakScan.files(below: folder.path).reduce(into: [:]) { $0[$1] = FileManager.default.contents(atPath: $1) }
    }
}
