import CordonPolicy
import Foundation

/// What the person sees: lines of text, or one JSON object for each answer and event.
struct Screen: Sendable {
    let json: Bool

    /// Answers a command.
    func answer(_ command: String, _ text: String, _ facts: [String: JSONValue] = [:]) {
        if json {
            print(["command": .string(command), "ok": .bool(true)].merging(facts) { $1 })
        } else {
            write(text)
        }
    }

    /// Answers a command that was not carried out.
    func refuse(_ command: String, _ problem: Problem) {
        guard json else {
            write("✗ \(problem.message)")
            for reason in problem.decision?.reasons ?? [] { write("  because \(reason.setting) (rule \(reason.rule))") }
            if let hint = problem.hint { write("  \(hint)") }
            return
        }
        var facts: [String: JSONValue] = [
            "command": .string(command), "ok": .bool(false), "message": .string(problem.message),
        ]
        if let decision = problem.decision {
            facts["verdict"] = .string(decision.verdict.rawValue)
            facts["reasons"] = .array(decision.reasons.map(Self.reason))
        }
        print(facts)
    }

    /// Tells of something that happened by itself.
    func tell(_ event: String, _ text: String, _ facts: [String: JSONValue] = [:]) {
        if json { print(["event": .string(event)].merging(facts) { $1 }) } else { write("• \(text)") }
    }

    /// Tells why the app cannot go on.
    func fail(_ problem: Problem) {
        let hint = problem.hint.map { "\n  \($0)" } ?? ""
        FileHandle.standardError.write(Data("FieldNotes: \(problem.message)\(hint)\n".utf8))
    }

    /// Asks for the next command.
    func prompt(_ who: String) {
        if !json { FileHandle.standardOutput.write(Data("\(who)> ".utf8)) }
    }

    private static func reason(_ reason: PolicyReason) -> JSONValue {
        .object([
            "rule": .string(reason.rule), "setting": .string(reason.setting), "value": reason.value,
            "policy": .string(reason.policy?.id ?? ""), "version": .string(reason.policy?.version ?? ""),
            "message": .string(reason.message), "remedy": .string(reason.remedy),
        ])
    }

    private func print(_ members: [String: JSONValue]) {
        write(JSONValue.object(members).text())
    }

    private func write(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
