import CordonDemo
import CordonPolicy
import CordonTesting
import Foundation
import Testing

/// A worker whose app is enrolled under rules, with notes in it: where most end-to-end tests begin.
struct EnrolledWorker {
    let app: AppSession
    let account: String
    let policy: String

    /// Publishes rules and enrols a worker's app under them.
    static func begin(
        on stage: DemoStage, name: String = "worker", options: [String] = [],
        rules: [String: JSONValue] = ["printBlocked": .bool(true)]
    ) async throws -> EnrolledWorker {
        let policy = try await publish(rules, on: stage)
        let app = try await stage.managedApp(name, options)
        let answer = try await stage.signIn(try stage.worker(), in: app)
        #expect(answer.members["status"]?.integer == 100)
        return EnrolledWorker(app: app, account: try #require(answer["account"]), policy: policy)
    }

    /// Publishes rules for the workers' group; the policy's id.
    static func publish(_ rules: [String: JSONValue], on stage: DemoStage) async throws -> String {
        _ = try await stage.runningService()
        let administrator = try await stage.administrator()
        let group = try await administrator.group(of: try stage.worker().name)
        let named: [String: JSONValue] = [
            "@odata.type": .string("#microsoft.graph.iosManagedAppProtection"), "displayName": .string("Test"),
            "pinRequired": .bool(false),
        ]
        return try await administrator.publish(
            .object(named.merging(rules) { $1 }), app: DemoStage.bundleID, group: group)
    }

    /// Changes some of the rules and has the app hear of them.
    func change(_ rules: [String: JSONValue], on stage: DemoStage) async throws {
        try await stage.administrator().change(policy, .object(rules))
        try await hear()
    }

    /// Has the app ask for what is new.
    func hear() async throws {
        #expect(try await app.ask("check-in").members["succeeded"]?.bool == true)
    }

    /// Asks for a wipe of this worker's app.
    func requestWipe(on stage: DemoStage) async throws -> String {
        let administrator = try await stage.administrator()
        let registration = try #require(
            try await administrator.registrations().first { $0["userId"]?.string == account })
        try await administrator.wipe(
            user: account, deviceTag: try #require(registration["deviceTag"]?.string))
        return try #require(registration["id"]?.string)
    }

    /// Waits until the service says how a wipe went.
    static func wipeState(of registration: String, on stage: DemoStage) async throws -> String {
        var state = "none"
        try await until(every: .milliseconds(25)) {
            state = try await stage.administrator().operations(of: registration).first?["state"]?.string ?? "none"
            return ["succeeded", "failed"].contains(state)
        }
        return state
    }
}
