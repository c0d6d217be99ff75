import ArgumentParser
import CordonPolicy
import CordonServiceHTTP
import CordonTestSupport
import Foundation
import HTTPTypes
import Logging
import Testing

@testable import CordonCommand

/// Policies as files against the service itself, over a socket: what its answers hold that a pretended one's do not.
@Suite(.timeLimit(.minutes(10))) struct LivePolicyFilesTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Runs a body with an empty folder of files and the client of a running service.
    private func withService(_ body: (PolicyFilesFixture) async throws -> Void) async throws {
        try await withServeFolder { folder in
            let secret = folder.appending(path: "secret")
            try Data("correct horse\n".utf8).write(to: secret)
            let plan = try ServeOptions.parse([
                "--development", "--listen", "127.0.0.1:0", "--database", "memory:", "--development-password",
                "correct horse", "--data-directory", folder.appending(path: "service").path,
            ]).plan(environment: [:])
            let running = try await RunningService.open(plan, logger: Self.logger)
            let (reports, source) = AsyncStream.makeStream(of: ServeReport.self)
            let serving = Task {
                defer { source.finish() }
                try await running.server.run { source.yield(running.report(at: $0)) }
            }
            var found = reports.makeAsyncIterator()
            let report = try #require(await found.next())
            let options = try ServiceOptions.parse([
                "--service", report.address, "--client", DevelopmentClients.automation, "--secret-file", secret.path,
            ])
            let outcome: Result<Void, any Error>
            do {
                try await options.withClient { client in
                    let files = folder.appending(path: "files", directoryHint: .isDirectory)
                    try await body(PolicyFilesFixture(folder: files, live: client))
                }
                outcome = .success(())
            } catch { outcome = .failure(error) }
            await running.server.shutDown()
            try await serving.value
            await running.close(logger: Self.logger)
            try outcome.get()
        }
    }

    private static func policy(_ targets: [JSONValue]) -> JSONValue {
        [
            "@odata.type": "#microsoft.graph.iosManagedAppProtection", "displayName": "New", "pinRequired": true,
            "apps": [
                [
                    "mobileAppIdentifier": [
                        "@odata.type": "#microsoft.graph.iosMobileAppIdentifier", "bundleId": "org.example.app",
                    ]
                ]
            ],
            "assignments": .array(targets.map { ["target": $0] }),
        ]
    }

    @Test func `something new with an assignment, and an assignment that is added, are applied as planned`()
        async throws
    {
        try await withService { fixture in
            _ = try await fixture.pull()
            let file = "policies/new.json"
            let everyone: JSONValue = ["@odata.type": "#microsoft.graph.allLicensedUsersAssignmentTarget"]
            try fixture.write(file, Self.policy([everyone]))
            #expect(try await fixture.plan().steps.map(\.action) == [.create])
            let made = try await fixture.apply()
            #expect(made.applied == [file] && made.stopped == nil)
            #expect(try await fixture.plan().isEmpty)

            let groups = try await fixture.client.json(.get, "v1.0/groups")["value"]?.array ?? []
            let group = try #require(groups.first?["id"])
            let target: JSONValue = ["@odata.type": "#microsoft.graph.groupAssignmentTarget", "groupId": group]
            try fixture.edit(file, ["assignments": [["target": everyone], ["target": target]]])
            #expect(try await fixture.plan().steps.map(\.action) == [.update])
            let changed = try await fixture.apply()
            #expect(changed.applied == [file] && changed.stopped == nil)
            #expect(try await fixture.plan().isEmpty)
        }
    }

    @Test func `another target than planned is another change`() async throws {
        try await withService { fixture in
            _ = try await fixture.pull()
            let everyone: JSONValue = ["@odata.type": "#microsoft.graph.allLicensedUsersAssignmentTarget"]
            try fixture.write("policies/new.json", Self.policy([everyone]))
            let planned = try #require(try await fixture.plan().steps.first)
            try fixture.write("policies/new.json", Self.policy([]))
            let other = try #require(try await fixture.plan().steps.first)
            #expect(planned.isCovered(planned.impact) && !planned.isCovered(other.impact))
        }
    }

    @Test func `a value from elsewhere is in no plan and in no pull, whatever its name is`() async throws {
        try await withService { fixture in
            _ = try await fixture.pull()
            let (file, secret) = ("configurations/vpn.json", "hunter2-of-the-vpn")
            let variables = ["LICENCE": secret]
            func configuration(_ value: JSONValue) -> JSONValue {
                [
                    "@odata.type": "#microsoft.graph.targetedManagedAppConfiguration", "displayName": "VPN",
                    "customSettings": [["name": "licenceKey", "value": value]],
                ]
            }
            // As it was before values from elsewhere were marked.
            try fixture.write(file, configuration(.string(secret)))
            _ = try await fixture.plan()
            #expect(try await fixture.apply().applied == [file])
            try fixture.edit(
                file, ["customSettings": [["name": "licenceKey", "value": ["fromEnvironment": "LICENCE"]]]])
            let plan = try await fixture.plan(variables)
            #expect(plan.steps.map(\.action) == [.update])
            let kept = try String(contentsOfFile: fixture.place(PolicyPlan.name), encoding: .utf8)
            #expect(!kept.contains(secret) && kept.contains("cordon-secret:"))
            #expect(try await fixture.apply(variables).applied == [file])
            #expect(try await fixture.plan(variables).isEmpty, "the same value is no change")
            // In the files that name it, and in those of another folder.
            _ = try await fixture.pull()
            let again = PolicyFilesFixture(
                folder: fixture.folder.deletingLastPathComponent().appending(path: "again"), live: fixture.client)
            _ = try await again.pull()
            for fixture in [fixture, again] {
                let text = try String(contentsOfFile: fixture.place(file), encoding: .utf8)
                #expect(!text.contains(secret))
            }
            #expect(try again.read(file)["customSettings"]?.array?.first?["isSecret"] == true)
        }
    }
}
