import CordonDemo
import CordonPolicy
import CordonTestSupport
import Foundation
import Testing

/// Setups D and E of the documents: signing in and out, kills and restarts.
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct AccountScenarios {
    @Test func `SDK-SC-15, SC-39, SC-40: one account at most, an untargeted one, the first rules`()
        async throws
    {
        try await Programs.onStage { stage in
            _ = try await stage.runningService()
            let early = try await stage.managedApp("early")
            try await early.ask("note diary my own day")
            let untargeted = try await stage.signIn(try stage.worker("b"), in: early)
            #expect(untargeted.members["ok"]?.bool == false, "SC-39")
            #expect(try await early.ask("show diary")["text"] == "my own day", "SC-39: the app works as before")
            #expect(await !early.hasHappened("restartAdvised"), "SC-39")

            _ = try await EnrolledWorker.publish(["printBlocked": .bool(true)], on: stage)
            let app = try await stage.managedApp("single", ["--single"])
            let first = try await stage.signIn(try stage.worker(), in: app)
            #expect(first.members["status"]?.integer == 100, "SC-40")
            _ = try await app.event("restartAdvised")
            #expect(try await app.ask("status").members["managed"]?.bool == true, "SC-40: without a restart")
            let second = try await stage.signIn(try stage.worker("b"), in: app)
            #expect(second.members["ok"]?.bool == false, "SC-15")
            try await app.ask("use \(try #require(first["account"]))")
            #expect(try await app.ask("sign-out yes").members["ok"]?.bool == true)
            let third = try await stage.signIn(try stage.worker("b"), in: app)
            #expect(third.members["ok"]?.bool == true, "SC-15: once the first is removed")
        }
    }

    @Test func `SDK-SC-41: the first rules have a PIN made, and the app goes on once the account is signed out`()
        async throws
    {
        try await Programs.onStage { stage in
            _ = try await EnrolledWorker.publish(["pinRequired": .bool(true)], on: stage)
            let app = try await stage.managedApp("worker", ["--asks"])
            try await app.ask("note diary my own day")
            let typing = Task {
                while let text = try await app.event("protection")["text"] {
                    guard text.hasSuffix(":") else { continue }
                    app.process.send(text.hasPrefix("New PIN") || text.hasPrefix("The same") ? "2580" : "1")
                }
            }
            defer { typing.cancel() }
            let signedIn = try await stage.signIn(try stage.worker(), in: app)
            #expect(signedIn.members["status"]?.integer == 100)
            #expect(try await app.isManaged())
            try await app.ask("note plan the organisation's plan")
            #expect(try await app.ask("show plan")["text"] == "the organisation's plan")
            #expect(try await app.ask("sign-out yes").members["ok"]?.bool == true)
            #expect(try await !app.isManaged())
            #expect(try await app.ask("show diary")["text"] == "my own day")
            #expect(try await app.ask("note evening later").members["ok"]?.bool == true)
            #expect(try await app.ask("use \(signedIn["account"] ?? "")").members["ok"]?.bool == false)
            // After a restart no PIN is asked for, since no account needs one.
            app.process.signal(SIGKILL)
            _ = await app.process.wait()
            let again = try await stage.managedApp("worker", ["--asks"])
            #expect(try await again.ask("show evening")["text"] == "later")
            #expect(await !again.hasHappened("protection"))
        }
    }

    @Test func `SDK-SC-16, SC-17: signing out removes one account's data and nothing of the other`() async throws {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage)
            let app = worker.app
            try await app.ask("note plan the organisation's plan")
            try await app.ask("use personal")
            try await app.ask("note diary my own day")
            try await app.ask("use \(worker.account)")
            #expect(try await app.ask("sign-out yes").members["ok"]?.bool == true)
            #expect(try await app.ask("show diary")["text"] == "my own day", "SC-16")
            #expect(try await !app.isManaged(), "SC-16")
            #expect(try await app.ask("use \(worker.account)").members["ok"]?.bool == false, "SC-16")

            let again = try await stage.managedApp("second")
            try await stage.signIn(try stage.worker(), in: again)
            try await again.ask("note plan the organisation's plan")
            try await again.ask("use personal")
            try await again.ask("note diary my own day")
            // The person's own notes belong to no account that could sign out: nothing goes, on either side.
            #expect(try await again.ask("sign-out yes").members["ok"]?.bool == false, "SC-17")
            #expect(try await again.ask("show diary")["text"] == "my own day", "SC-17")
            try await again.ask("use \(worker.account)")
            #expect(try await again.isManaged(), "SC-17")
            #expect(try await again.ask("show plan")["text"] == "the organisation's plan", "SC-17")
        }
    }

    @Test(.seeded(as: 25))
    func `SDK-SC-21…25: kills, restarts and random switches never change who is managed`() async throws {
        let seed = TestSeed.current
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage)
            var app = worker.app
            try await app.ask("note plan the organisation's plan")
            try await app.ask("use personal")
            try await app.ask("note diary my own day")
            var random = SeededGenerator(seed)
            for step in 0..<24 {
                if step % 8 == 5 {
                    app.process.signal(SIGKILL)
                    _ = await app.process.wait()
                    app = try await stage.managedApp("worker")
                }
                let isWork = random.next() % 2 == 0
                if random.next() % 3 == 0 { try await app.ask("window w\(random.next() % 3)") }
                try await app.ask("use \(isWork ? worker.account : "personal")")
                #expect(try await app.isManaged() == isWork, "step \(step)")
                let title = isWork ? "plan" : "diary"
                #expect(try await app.ask("show \(title)").members["ok"]?.bool == true, "step \(step)")
                let printed = try await app.ask("print \(title)")
                #expect((printed["verdict"] == "block") == isWork, "step \(step)")
            }
        }
    }

    @Test func `SDK-SC-42, SC-44: remediation protects an account, or says why it cannot; support sees both`()
        async throws
    {
        try await Programs.onStage { stage in
            _ = try await stage.runningService()
            let app = try await stage.managedApp("worker")
            let refused = try await stage.signIn(try stage.worker(), in: app, typing: "remediate")
            #expect(refused.members["ok"]?.bool == false, "SC-44: no rules, no token")
            #expect(refused["message"]?.contains("no rules") == true, "SC-44")
            _ = try await EnrolledWorker.publish(["printBlocked": .bool(true)], on: stage)
            let done = try await stage.signIn(try stage.worker(), in: app, typing: "remediate")
            #expect(done.members["status"]?.integer == 0, "SC-42: before its first use")
            #expect(try await app.isManaged())

            try await app.ask("note plan the secret plan")
            try await app.ask("print plan")
            let answer = try await app.ask("diagnostics")
            let report = try #require(answer.members["report"])
            #expect(report["accounts"]?.array?.first?["isEnrolled"]?.bool == true)
            #expect(report["denials"]?.array?.last?["action"]?.string == "print")
            #expect(!report.text().contains("secret"))
            #expect(try await app.ask("ledger").members["sent"]?.array != nil)
            #expect(try await app.ask("config").members["values"]?.object?.isEmpty == true)
        }
    }
}
