import CordonIdentity
import CordonPolicy
import Foundation

/// What the person sees: lines of text, or one JSON object for each answer and event.
///
/// Names, titles, notes and messages come from other people and other machines. They pass through ``Shown``, so that a terminal
/// shows them and obeys none of them.
struct Screen: Sendable {
    let json: Bool

    /// Text for the person. What is written down as a sentence in the code is one line, whatever is put into it.
    enum Shown: ExpressibleByStringInterpolation {
        /// One line.
        case line(String)
        /// Several lines, each of which stays one.
        case lines([String])
        /// A text with lines of its own, such as a note; all of it where nothing may be left out.
        case prose(String, isWhole: Bool = false)

        init(stringLiteral value: String) { self = .line(value) }

        var text: String {
            switch self {
            case .line(let line): TerminalText(line).text
            case .lines(let lines): lines.map { TerminalText($0).text }.joined(separator: "\n")
            case .prose(let text, let isWhole): TerminalText(text, as: .prose, limit: isWhole ? .max : nil).text
            }
        }
    }

    /// Answers a command.
    func answer(_ command: String, _ text: Shown, _ facts: [String: JSONValue] = [:]) {
        if json {
            print(["command": .string(command), "ok": .bool(true)].merging(facts) { $1 })
        } else {
            write(text.text)
        }
    }

    /// Answers a command that was not carried out.
    func refuse(_ command: String, _ problem: Problem) {
        guard json else {
            write("✗ \(TerminalText(problem.message))")
            for reason in problem.decision?.reasons ?? [] {
                write("  because \(TerminalText(reason.setting)) (rule \(TerminalText(reason.rule)))")
            }
            if let hint = problem.hint { write("  \(TerminalText(hint))") }
            return
        }
        var facts: [String: JSONValue] = [
            "command": .string(command), "ok": .bool(false), "message": .string(problem.message),
        ]
        if let hint = problem.hint { facts["hint"] = .string(hint) }
        if let decision = problem.decision {
            facts["verdict"] = .string(decision.verdict.rawValue)
            facts["reasons"] = .array(decision.reasons.map(Self.reason))
        }
        print(facts)
    }

    /// Tells of something that happened by itself.
    func tell(_ event: String, _ text: Shown, _ facts: [String: JSONValue] = [:]) {
        if json { print(["event": .string(event)].merging(facts) { $1 }) } else { write("• \(text.text)") }
    }

    /// Tells why the app cannot go on.
    func fail(_ problem: Problem) {
        let hint = problem.hint.map { "\n  \(TerminalText($0))" } ?? ""
        Self.write("FieldNotes: \(TerminalText(problem.message))\(hint)\n", to: .standardError)
    }

    /// Asks for the next command.
    func prompt(_ who: String) {
        if !json { Self.write("\(TerminalText(who, limit: 200))> ", to: .standardOutput) }
    }

    private static func reason(_ reason: PolicyReason) -> JSONValue {
        .object([
            "rule": .string(reason.rule), "setting": .string(reason.setting), "value": reason.value,
            "policy": .string(reason.policy?.id ?? ""), "version": .string(reason.policy?.version ?? ""),
            "message": .string(reason.message), "remedy": .string(reason.remedy),
        ])
    }

    private func print(_ members: [String: JSONValue]) {
        write(TerminalText.escaping(json: JSONValue.object(members).text()))
    }

    private func write(_ line: String) {
        Self.write(line + "\n", to: .standardOutput)
    }

    /// Writes what can be written. A terminal that is gone or a disk that is full does not end the app, which may yet hear of a wipe.
    static func write(_ text: String, to stream: FileHandle) {
        try? stream.write(contentsOf: Data(text.utf8))
    }
}
