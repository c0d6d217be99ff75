import CordonDemo
import CordonPolicy
import Testing

extension AppSession {
    /// Whether the rules let the app carry a command out; what fails for another reason is a mistake in the test.
    nonisolated func allows(_ command: String) async throws -> Bool {
        let answer = try await ask(command)
        if answer.members["ok"]?.bool == true { return true }
        #expect(answer["verdict"] == "block", "\(command): \(answer.members)")
        #expect(answer["message"]?.isEmpty == false, "\(command): a refusal says why")
        return false
    }

    /// The quick visible probe: whether the notes on the screen are under rules.
    nonisolated func isManaged() async throws -> Bool {
        try await ask("status").members["managed"]?.bool == true
    }
}
