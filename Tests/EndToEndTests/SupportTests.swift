import CordonDemo
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

/// SDK-LG-03, SRV-CI-015, SRV-CI-016, SRV-CI-024: what an administrator can ask of an app that is far away.
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct SupportTests {
    @Test func `an app's log reaches the administrator as its person saw it, and not without a yes`() async throws {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage)
            let app = worker.app
            try await app.ask("note plan the organisation's plan")
            let told = try await app.ask("diagnostics").members
            let log = try #require(told["logs"]?.array?.compactMap(\.string).first { $0.hasSuffix("cordon.log") })
            #expect(FileManager.default.fileExists(atPath: log))
            #expect(try #require(told["report"]).text().contains("cordon.log") == false)

            let administrator = try await stage.administrator()
            let registration = try #require(
                try await administrator.registrations().first { $0["userId"]?.string == worker.account }?["id"]?.string)
            let declined = try await administrator.requestLogs(of: registration)
            _ = try await app.event("logsRequested")
            try await app.ask("logs no")
            #expect(try await app.event("logs")["end"] == "declined")
            await #expect(throws: ProgramError.self) { try await administrator.logs(declined) }
        }
    }

    @Test func `a yes sends exactly what was shown`() async throws {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage)
            let app = worker.app
            try await app.ask("note plan the organisation's plan")
            let administrator = try await stage.administrator()
            let registration = try #require(
                try await administrator.registrations().first { $0["userId"]?.string == worker.account }?["id"]?.string)
            let request = try await administrator.requestLogs(of: registration)
            _ = try await app.event("logsRequested")
            let shown = try #require(try await app.ask("logs show")["content"])
            try await app.ask("logs yes")
            #expect(try await app.event("logs")["end"] == "sent")
            let received = String(decoding: try await administrator.logs(request), as: UTF8.self)
            #expect(received == shown)
            #expect(!received.contains("the organisation's plan") && !received.contains("plan\""))
            #expect(
                try await app.ask("ledger").members["sent"]?.array?.contains { entry in
                    entry["event"]?["properties"]?["action"]?.string == "logUpload"
                } == true)
        }
    }

    @Test func `an app whose Cordon is too old for the organisation says so at once`() async throws {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage)
            try await stage.administrator().changeSettings(["minimumSDKVersion": .string("999.0")])
            try await worker.hear()
            // What happened before is told first.
            while try await worker.app.event("status")["next"] != "updateApp" {}
        }
    }
}
