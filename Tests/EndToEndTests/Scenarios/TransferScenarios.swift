import CordonDemo
import CordonPolicy
import CordonTestSupport
import Foundation
import Testing

/// Setups C and F of the documents: printing, and hand-overs between three real processes.
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct TransferScenarios {
    private static let managedOnly: [String: JSONValue] = [
        "allowedOutboundDataTransferDestinations": .string("managedApps"),
        "allowedInboundDataTransferSources": .string("managedApps"),
        "allowedOutboundClipboardSharingLevel": .string("managedApps"),
    ]

    @Test func `SDK-SC-08, SC-09: printing is blocked with a reason, and works where it is allowed`() async throws {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage)
            try await worker.app.ask("note plan the plan")
            let refused = try await worker.app.ask("print plan")
            #expect(refused["verdict"] == "block" && refused["message"]?.isEmpty == false)
            let paper = stage.folder.appending(path: "paper/plan.txt")
            #expect(!FileManager.default.fileExists(atPath: paper.path))
            try await stage.administrator().change(worker.policy, .object(["printBlocked": .bool(false)]))
            try await worker.app.ask("check-in")
            #expect(try await worker.app.ask("print plan").members["ok"]?.bool == true)
            #expect(try String(contentsOf: paper, encoding: .utf8) == "the plan")
        }
    }

    /// F: this app with a managed and a personal account, a second managed app M, an app U that knows no organisation.
    @Test func `SDK-SC-26…37: sending, fetching and receiving between a managed and an unmanaged app`() async throws {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage, rules: Self.managedOnly)
            let (app, account) = (worker.app, worker.account)
            let partner = try await stage.managedApp("partner")
            try await stage.signIn(try stage.worker(), in: partner)
            let stranger = try await stage.personalApp("stranger")
            func inbox(_ name: String, _ box: String = "inbox") -> String {
                stage.home(of: name).appending(path: box).path
            }
            try await app.ask("note plan the organisation's plan")
            try await app.ask("use personal")
            try await app.ask("note diary my own day")
            try await partner.ask("note figures the organisation's figures")
            try await stranger.ask("note joke a stranger's joke")

            try await app.ask("use \(account)")
            #expect(try await !app.allows("share plan \(inbox("stranger"))"), "SC-26")
            #expect(try await app.allows("share plan \(inbox("partner"))"), "SC-27")
            #expect(try await partner.ask("receive").members["titles"]?.array == [.string("plan")], "SC-27")
            try await app.ask("use personal")
            let offered = try await app.allows("share diary \(inbox("partner"))")
            // Who blocks is open (CQ-31): the sender, or else the receiver's rules.
            if offered { #expect(try await !partner.allows("receive"), "SC-28") }
            #expect(try await app.allows("share diary \(inbox("stranger"))"), "SC-29")
            #expect(try await stranger.ask("receive").members["titles"]?.array == [.string("diary")], "SC-29")

            for (box, first) in [("fetched", 30), ("inbox", 34)] {
                let command = box == "inbox" ? "receive" : "receive \(box)"
                try await stranger.ask("share joke \(inbox("worker", box))")
                try await app.ask("use \(account)")
                #expect(try await !app.allows(command), "SC-\(first)")
                #expect(try await partner.allows("share figures \(inbox("worker", box))"), "SC-\(first + 1)")
                let received = try await app.ask(command).members
                #expect(received["titles"]?.array == [.string("figures")], "SC-\(first + 1)")
                #expect(received["left"]?.integer == 1, "what is refused keeps nothing else out")
                #expect(try await app.ask("show figures")["text"] == "the organisation's figures")
                try await app.ask("use personal")
                #expect(try await app.ask(command).members["titles"]?.array == [.string("joke")], "it has stayed there")
                #expect(try await partner.allows("share figures \(inbox("worker", box))"))
                #expect(try await !app.allows(command), "SC-\(first + 2)")
                try await stranger.ask("share joke \(inbox("worker", box))")
                #expect(try await app.allows(command), "SC-\(first + 3)")
                #expect(try await app.ask("show joke")["text"] == "a stranger's joke")
            }
        }
    }
}
