import CordonDemo
import CordonPolicy
import CordonTestSupport
import Foundation
import Testing

/// SDK-ID-15…21, SDK-ID-48: the windows of an app, each with an account that has to pass its launch conditions.
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct WindowTests {
    @Test func `rules that an app does not meet take the account off its windows, and let it back when they are met`()
        async throws
    {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage)
            let app = worker.app
            try await app.ask("note plan the organisation's plan")
            try await app.ask("window second")
            #expect(try await !app.isManaged(), "a new window is the person's own")
            try await app.ask("use \(worker.account)")

            try await worker.change(["minimumRequiredAppVersion": .string("9.0")], on: stage)
            #expect(
                Set([try await app.event("hidden")["window"], try await app.event("hidden")["window"]]) == [
                    "main", "second",
                ])
            for window in ["main", "second", "third"] {
                try await app.ask("window \(window)")
                #expect(try await !app.isManaged(), "\(window)")
                let refused = try await app.ask("use \(worker.account)")
                #expect(refused.members["ok"]?.bool == false, "\(window)")
                #expect(refused["message"]?.contains("too old") == true, "\(refused.members)")
                #expect(try await !app.isManaged(), "\(window)")
            }
            // The account that was held back can still be checked in.
            try await worker.change(["minimumRequiredAppVersion": .string("1.0")], on: stage)
            #expect(try await app.ask("use \(worker.account)").members["ok"]?.bool == true)
            #expect(try await app.isManaged())
            #expect(try await app.ask("show plan")["text"] == "the organisation's plan")
            try await app.ask("window main")
            #expect(try await !app.isManaged(), "the other windows are as the person left them")
        }
    }

    @Test func `a rooted device enrols and shows nothing`() async throws {
        try await Programs.onStage { stage in
            _ = try await EnrolledWorker.publish([:], on: stage)
            let app = try await stage.managedApp("worker", ["--rooted"])
            let answer = try await stage.signIn(try stage.worker(), in: app)
            #expect(answer.members["status"]?.integer == 100)
            #expect(try await app.event("notShown")["message"] == nil)
            #expect(try await !app.isManaged())
            #expect(try await app.ask("use \(answer["account"] ?? "")").members["ok"]?.bool == false)
        }
    }

    @Test func `a PIN is made in the terminal before a window shows the organisation's notes`() async throws {
        try await Programs.onStage { stage in
            _ = try await EnrolledWorker.publish(["pinRequired": .bool(true)], on: stage)
            let app = try await stage.managedApp("worker", ["--asks"])
            let typing = Task {
                while let text = try await app.event("protection")["text"] {
                    guard text.hasSuffix(":") else { continue }
                    app.process.send(text.hasPrefix("New PIN") || text.hasPrefix("The same") ? "2580" : "1")
                }
            }
            defer { typing.cancel() }
            let answer = try await stage.signIn(try stage.worker(), in: app)
            #expect(answer.members["status"]?.integer == 100)
            #expect(try await app.isManaged())
        }
    }

    @Test func `a link in the organisation's notes opens in its browser, one in the person's own where it likes`()
        async throws
    {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(
                on: stage,
                rules: [
                    "managedBrowserToOpenLinksRequired": .bool(true), "customBrowserProtocol": .string("mybrowser"),
                    "allowedOutboundDataTransferDestinations": .string("managedApps"),
                ])
            let app = worker.app
            #expect(try await app.ask("browse https://example.com/a")["address"] == "mybrowsers://example.com/a")
            #expect(try await !app.allows("browse unlisted-app:open"))
            try await app.ask("use personal")
            #expect(try await app.ask("browse https://example.com/a")["address"] == "https://example.com/a")
            let opened = stage.home(of: "worker").appending(path: "opened")
            #expect(try FileManager.default.contentsOfDirectory(atPath: opened.path).count == 2)
        }
    }
}
