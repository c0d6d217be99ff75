internal import CordonLeakScan
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

extension DemoStory {
    func wipe(_ step: inout DemoStep) async throws(ProgramError) {
        let app = try running()
        let administrator = try await stage.administrator()
        guard let registration = try await administrator.registrations().first,
            let id = registration["id"]?.string, let tag = registration["deviceTag"]?.string,
            let user = registration["userId"]?.string
        else { throw ProgramError.stage("the service knows no registration") }

        let began = ContinuousClock.now
        try await administrator.wipe(user: user, deviceTag: tag)
        let started = try await app.event("wipeStarted")
        let finished = try await app.event("wipeFinished")
        step.facts["millisecondsToStart"] = .measured((started.arrived - began).milliseconds)
        step.facts["millisecondsToReceipt"] = .measured((finished.arrived - began).milliseconds)
        step.expect("the app reports success", finished.members["succeeded"]?.bool, is: true)

        let refused = try await app.ask("use \(account)")
        step.expect("the account is gone from the app", refused.members["ok"]?.bool, is: false)
        let left = try leaks(below: stage.home(of: "worker"))
        step.expect("none of the planted texts is readable", left.texts, is: 0)
        let sealed = try files(below: stage.home(of: "worker").appending(path: "protected/files"))
        step.expect("no sealed file is left", sealed.count, is: 0)
        let personal = try files(below: stage.home(of: "worker").appending(path: "personal-notes"))
        step.expect(
            "the personal note is unchanged, byte for byte", personal == personalFiles, seen: "\(personal.count) file")

        let state = try await finalState(of: registration, id, administrator)
        step.facts["operation"] = .string(state)
        step.expect("the service has the receipt and accepts it", state, is: "succeeded")
    }

    /// The state of the registration's wipe, once it is over or a minute has passed.
    private func finalState(
        of registration: JSONValue, _ id: String, _ administrator: Administrator
    ) async throws(ProgramError) -> String {
        var state = ""
        for _ in 0..<1_200 {
            state = try await administrator.operations(of: id).first?["state"]?.string ?? "none"
            if ["succeeded", "failed", "cancelled", "expired"].contains(state) { return state }
            try? await Task.sleep(for: .milliseconds(50))
        }
        return state
    }
}
