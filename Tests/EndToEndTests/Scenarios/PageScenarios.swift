import CordonDemo
import CordonLeakScan
import CordonPolicy
import CordonTestSupport
import Foundation
import Testing

/// Setups D and E of the documents: which account is managed, on every page of the app and in every window.
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct PageScenarios {
    private static let strict: [String: JSONValue] = [
        "allowedOutboundDataTransferDestinations": .string("managedApps"),
        "allowedInboundDataTransferSources": .string("managedApps"),
        "allowedOutboundClipboardSharingLevel": .string("blocked"), "saveAsBlocked": .bool(true),
        "blockDataIngestionIntoOrganizationDocuments": .bool(true), "printBlocked": .bool(true),
    ]

    @Test
    func `SDK-SC-13, SC-14: whichever account comes first, the organisation's data is managed, the person's is not`()
        async throws
    {
        try await Programs.onStage { stage in
            let planted = LeakScan(count: 2, seed: 13)
            let worker = try await EnrolledWorker.begin(on: stage)
            try await worker.app.ask("note plan \(planted.texts[0])")
            #expect(try await worker.app.isManaged(), "SC-13")
            try await worker.app.ask("use personal")
            try await worker.app.ask("note diary \(planted.texts[1])")
            #expect(try await !worker.app.isManaged(), "SC-13")
            #expect(try await worker.app.allows("print diary"), "SC-13")
            try await worker.app.ask("use \(worker.account)")
            #expect(try await !worker.app.allows("print plan"), "SC-13")
            // The person's note lies open, as in any app; the organisation's does not.
            #expect(try planted.leaks(below: stage.home(of: "worker")).texts == 1, "SC-13")

            let other = try await stage.managedApp("other")
            try await other.ask("note diary \(planted.texts[1])")
            #expect(try await !other.isManaged(), "SC-14")
            let answer = try await stage.signIn(try stage.worker("b"), in: other)
            try await other.ask("note plan \(planted.texts[0])")
            #expect(try await other.isManaged(), "SC-14")
            #expect(try await !other.allows("print plan"), "SC-14")
            try await other.ask("use personal")
            #expect(try await other.allows("print diary"), "SC-14")
            #expect(try await other.ask("use \(answer["account"] ?? "")").members["ok"]?.bool == true)
            #expect(try planted.leaks(below: stage.home(of: "other")).texts == 1, "SC-14")
        }
    }

    @Test func `SDK-SC-18…20: rules hold on every page of the organisation, on none of the person's, on one of both`()
        async throws
    {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage, rules: Self.strict)
            let app = worker.app
            let stranger = try await stage.personalApp("stranger")
            let incoming = stage.folder.appending(path: "joke")
            try Data("a joke".utf8).write(to: incoming)
            try await stranger.ask("note joke a joke")
            try await app.ask("note page the organisation's plan")
            try await app.ask("use personal")
            try await app.ask("note page my own day")
            let ways = [
                "copy page", "print page", "save page dropbox", "save page other",
                "export page \(stage.folder.appending(path: "taken").path)",
                "share page \(stage.home(of: "stranger").appending(path: "inbox").path)", "paste",
                "open \(incoming.path) box", "import \(incoming.path)", "receive",
            ]
            for window in ["first", "second", "third"] {
                try await app.ask("window \(window)")
                for (who, isWork) in [(worker.account, true), ("personal", false)] {
                    try await app.ask("use \(who)")
                    #expect(try await app.isManaged() == isWork, "SC-\(isWork ? 18 : 19)")
                    for way in ways {
                        try await stranger.ask("copy joke")
                        try await stranger.ask("share joke \(stage.home(of: "worker").appending(path: "inbox").path)")
                        #expect(try await app.allows(way) != isWork, "SC-\(isWork ? 18 : 19): \(way) in \(window)")
                    }
                }
                try await app.ask("use \(window == "second" ? worker.account : "personal")")
            }
            #expect(try await !app.isManaged(), "SC-20: the third window")
            try await app.ask("window second")
            #expect(try await app.isManaged(), "SC-20: each window keeps its account")
            try await app.ask("window first")
            #expect(try await !app.isManaged(), "SC-20")

            let page = try await app.ask("everyone")
            #expect(
                page["text"]?.contains("my own day") == true
                    && page["text"]?.contains("the organisation's plan") == true)
            #expect(page.members["managed"]?.bool == true, "SC-20")
            for way in ["print", "copy", "save"] { #expect(try await !app.allows("everyone \(way)"), "SC-20: \(way)") }
            try await app.ask("use \(worker.account)")
            try await app.ask("sign-out yes")
            #expect(try await app.ask("everyone").members["managed"]?.bool == false, "SC-20: only the person is left")
            for way in ["print", "copy", "save"] { #expect(try await app.allows("everyone \(way)"), "SC-20: \(way)") }
        }
    }
}
