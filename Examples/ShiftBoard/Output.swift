import CordonIdentity
import CordonSignIn
import CordonVault
import Foundation

/// What the app says: text for people, or one JSON object for each answer and event.
///
/// Names and remarks come from other people, so that a terminal gets only what it shows and nothing that it obeys.
struct Output: Sendable {
    let json: Bool

    /// Answers a command.
    ///
    /// - Parameter words: What a person reads; nil where the facts are for people too.
    func answer(_ command: String, _ facts: [String: String] = [:], saying words: String? = nil) {
        write(facts.merging(["command": command]) { $1 }, isOK: true, words)
    }

    /// Answers a command that was not carried out.
    func refuse(_ command: String, _ error: any Error) {
        var facts = ["command": command, "message": Self.words(for: error)]
        if let error = error as? SignInError {
            facts["code"] = error.code.rawValue
            facts["fault"] = error.fault.rawValue
        }
        write(facts, isOK: false)
    }

    /// Tells of something that happened by itself.
    func tell(_ event: String, _ facts: [String: String], saying words: String? = nil) {
        write(facts.merging(["event": event]) { $1 }, isOK: nil, words)
    }

    /// An error in the words that a person sees.
    static func words(for error: any Error) -> String {
        switch error {
        case let error as SignInError: "\(error.reason). \(error.hint)"
        case let error as VaultError: error.reason
        default: error.localizedDescription
        }
    }

    /// Remarks have lines of their own; everything else is one line.
    private static func safe(_ value: String, named name: String) -> TerminalText {
        TerminalText(value, as: name == "text" ? .prose : .line)
    }

    private func write(_ facts: [String: String], isOK: Bool?, _ words: String? = nil) {
        let text: String
        if json {
            var object: [String: Any] = facts
            if let isOK { object["ok"] = isOK }
            let bytes = (try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys])) ?? Data()
            text = TerminalText.escaping(json: String(decoding: bytes, as: UTF8.self))
        } else if let words {
            text = (isOK == nil ? "• " : "") + TerminalText(words, as: .prose).text
        } else {
            let shown = facts.filter { $0.key != "command" && $0.key != "event" }.sorted { $0.key < $1.key }
            let mark = isOK == false ? "✗ " : isOK == nil ? "• \(facts["event"] ?? "") " : ""
            text = mark + shown.map { "\($0.key): \(Self.safe($0.value, named: $0.key))" }.joined(separator: "\n")
        }
        Self.write(text, to: .standardOutput)
    }

    /// Writes a line where that can be done. A terminal that is gone or a disk that is full does not end the app, which may be due to clean up.
    static func write(_ text: String, to stream: FileHandle) {
        try? stream.write(contentsOf: Data((text + "\n").utf8))
    }
}
