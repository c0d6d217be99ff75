internal import CordonPolicy
internal import Foundation

extension DemoStory {
    func enroll(_ step: inout DemoStep) async throws(DemoError) {
        let app = try await stage.managedApp("worker")
        notes = app
        let worker = try stage.worker()
        let answer = try await stage.signIn(worker, in: app)
        account = answer["account"] ?? ""
        step.facts["account"] = .string(worker.name)
        step.expect("the account is enrolled with new rules (status 100)", answer.members["status"]?.integer, is: 100)
        let managed = try await app.ask("status")
        let policies = managed.members["policies"]?.array?.compactMap(\.string) ?? []
        step.expect(
            "the rules in force are the published ones", policies.contains { $0.hasPrefix(policyID) },
            seen: policies.joined(separator: ", "))
        try await app.ask("use personal")
        let personal = try await app.ask("status")
        step.expect("the personal account has no rules", personal.members["managed"]?.bool, is: false)
    }
}
