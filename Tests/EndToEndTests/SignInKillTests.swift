import CordonLeakScan
import CordonPolicy
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonDemo

/// A sign-in at the broker that is interrupted, or begun twice at once, among real processes: one session or none, nothing left
/// over, and an answer for each (SI-057, SI-076).
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct SignInKillTests {
    /// Opens the page of a sign-in as a worker who does not know that no one waits for it any more.
    private func visitLate(_ page: String?, as letter: Character, on stage: DemoStage) async throws {
        let worker = try stage.worker(letter)
        let person = Person(name: worker.name, password: worker.password)
        let page = try #require(page.flatMap { URL(string: $0) })
        // The way back leads to an address at which nothing listens.
        _ = try? await person.visit(page, over: stage.transport)
    }

    /// How many sessions the broker keeps: tokens, and secrets of apps' data.
    private func kept(on stage: DemoStage) throws -> [Int] {
        let data = stage.folder.appending(path: "device/data")
        return [
            try LeakScan.files(below: data.appending(path: "tokens").path).count { $0.hasSuffix(".session") },
            try LeakScan.files(below: data.appending(path: "secrets").path).count { $0.contains("/broker-seed-") },
        ]
    }

    /// Begins a sign-in in an app; its answer, which comes later, and the page that it shows.
    private func begin(in app: AppSession) async throws -> (answer: Task<AppSession.Answer, any Error>, page: String?) {
        let answer = Task { try await app.ask("sign-in") }
        return (answer, try await app.event("browser")["page"])
    }

    @Test(arguments: ["killed", "cancelled"])
    func `a sign-in whose app is killed or gives it up leaves nothing, and another app signs in at once`(
        end: String
    ) async throws {
        try await Programs.onStage { stage in
            let device = try await SharedDevice.begin(on: stage)
            let one = try await device.app("one")
            let two = try await device.app("two")
            let (answer, page) = try await begin(in: one)
            // Begun at once by another app: refused, and the answer says what to do.
            let second = try await two.ask("sign-in")
            #expect(second["fault"] == "interactiveSessionRunning")
            #expect(second["message"]?.contains("already under way. Finish or cancel that one") == true)
            if end == "killed" {
                one.process.signal(SIGKILL)
                #expect(await one.process.wait() == -SIGKILL)
                await #expect(throws: (any Error).self) { try await answer.value }
            } else {
                one.process.send("cancel")
                #expect(try await answer.value["code"] == "cancelled")
            }
            #expect(try kept(on: stage) == [0, 0])
            // The broker may still be hearing of it.
            let worker = try stage.worker("b")
            try await until(every: .milliseconds(25)) {
                try await device.tool.run(["sign-in"], as: worker).status == 0
            }
            let now = try await two.ask("look")
            try await visitLate(page, as: "a", on: stage)
            let later = try await two.ask("look")
            #expect(later["current"] == now["current"] && later["session"] == now["session"])
            #expect(later["name"] == worker.name)
            #expect(try kept(on: stage) == [1, 1])
            #expect(try await two.ask("show")["text"] == "")
        }
    }

    @Test func `a broker that is killed while a page is open answers for it, and no late visit signs anyone in`()
        async throws
    {
        try await Programs.onStage { stage in
            var device = try await SharedDevice.begin(on: stage)
            let one = try await device.app("one")
            let (answer, page) = try await begin(in: one)
            device = try await device.restarted()
            let refused = try await answer.value
            #expect(refused.members["ok"]?.bool == false && refused["code"] == "brokerUnavailable")
            #expect(refused["message"]?.isEmpty == false)
            try await visitLate(page, as: "a", on: stage)
            #expect(try await one.ask("account")["current"] == "")
            #expect(try kept(on: stage) == [0, 0])
            let account = try await device.signIn("b", in: one)
            #expect(try await one.ask("look")["current"] == account)
            #expect(try kept(on: stage) == [1, 1])
        }
    }

    @Test func `a broker that is killed at any moment of the way back has the whole session or none of it`()
        async throws
    {
        try await Programs.onStage { stage in
            var device = try await SharedDevice.begin(on: stage, options: ["--clean-up-time", "1"])
            let one = try await device.app("one", ["--suspended"])
            let rounds = ProcessInfo.processInfo.environment["CORDON_DEEP"] == nil ? 6 : 60
            var whole = 0
            for round in 0..<rounds {
                let (answer, page) = try await begin(in: one)
                // The person's way through the page, and the kill somewhere on its last part.
                let visit = Task { try await visitLate(page, as: round.isMultiple(of: 2) ? "a" : "b", on: stage) }
                if round.isMultiple(of: 3) { try await visit.value }
                device = try await device.restarted()
                try await visit.value
                let told = try? await answer.value
                let now = try await one.ask("account")
                if now["current"] == "" {
                    #expect(told?.members["ok"]?.bool != true, "round \(round): a session that was told of is gone")
                    #expect(try kept(on: stage) == [0, 0], "round \(round)")
                } else {
                    whole += 1
                    #expect(try kept(on: stage) == [1, 1], "round \(round)")
                    try await one.ask("post round \(round)")
                    #expect(try await one.ask("show")["text"] == "round \(round)")
                    #expect(try await one.ask("sign-out")["keyDestroyed"] == "true")
                    #expect(try await one.ask("account")["owed"] == "", "it cleaned up, so the next one may come")
                    #expect(try kept(on: stage) == [0, 0], "round \(round)")
                }
            }
            // The control: without a kill the same way ends in a session.
            try await device.signIn("a", in: one)
            #expect(try kept(on: stage) == [1, 1], "\(whole) of \(rounds) were whole")
        }
    }

    @Test func `two processes of one app that sign in at once get one session, which both work in`() async throws {
        try await Programs.onStage { stage in
            let device = try await SharedDevice.begin(on: stage)
            let one = try await device.app("one")
            let again = try await device.app("one")
            let (answer, page) = try await begin(in: one)
            let second = try await again.ask("sign-in")
            #expect(second["fault"] == "interactiveSessionRunning")
            try await visitLate(page, as: "a", on: stage)
            let first = try await answer.value
            #expect(first.members["ok"]?.bool == true, "\(first["message"] ?? "")")
            try await one.ask("post one session")
            #expect(try await again.ask("show")["text"] == "one session")
            let (left, right) = (try await one.ask("look"), try await again.ask("look"))
            #expect(left["session"] == first["session"] && right["session"] == first["session"])
            #expect(try kept(on: stage) == [1, 1])
            // The one that was refused signs in too: the same person goes on in the same session.
            let answerAgain = try await stage.signIn(try stage.worker("a"), in: again)
            #expect(answerAgain["session"] == first["session"])
            #expect(try kept(on: stage) == [1, 1])
        }
    }
}
