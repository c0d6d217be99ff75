import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import Foundation

/// What administrators assigned, what a support desk asks for, and what was told about this app.
extension NotesApp {
    func configuration() throws {
        let values = (try protected()).rules.appConfiguration(of: try currentAccount())
        let lines = values.keys.sorted().map { key in
            "\(key): \(values.values(for: key).map { $0.text() }.joined(separator: ", "))"
                + (values.hasConflict(key) ? " (conflict)" : "")
        }
        screen.answer(
            "config", lines.isEmpty ? "nothing was assigned" : .lines(lines),
            [
                "values": .object(
                    Dictionary(uniqueKeysWithValues: values.keys.map { ($0, .array(values.values(for: $0))) })),
                "conflicts": .array(values.keys.filter { values.hasConflict($0) }.sorted().map { .string($0) }),
            ])
    }

    func diagnostics() async throws {
        let diagnostics = try protected().diagnostics
        let report = try MessageCoding.encode(diagnostics.report())
        let logs = diagnostics.logs.map(\.path)
        screen.answer(
            "diagnostics", .prose(([String(decoding: report, as: UTF8.self)] + logs).joined(separator: "\n")),
            ["report": try JSONValue(parsing: report), "logs": .array(logs.map { .string($0) })])
    }

    func ledger() async throws {
        let entries = try await (try protected()).telemetry.ledger().map { entry in
            try JSONValue(parsing: MessageCoding.encode(entry))
        }
        screen.answer(
            "ledger", entries.isEmpty ? "nothing was sent" : .prose(entries.map { $0.text() }.joined(separator: "\n")),
            ["sent": .array(entries)])
    }

    /// Shows what an administrator asked for, or answers them.
    func answerLogRequest(_ answer: TypedCommand.LogAnswer) async throws {
        let nothing = Problem("no administrator asks for logs")
        if answer == .show {
            guard let content = await logConsent.shown else { throw nothing }
            // The person agrees to all of it, so all of it is shown.
            return screen.answer(
                "logs", .prose(String(decoding: content, as: UTF8.self), isWhole: true),
                ["content": .string(String(decoding: content, as: UTF8.self))])
        }
        guard await logConsent.answer(answer == .yes) else { throw nothing }
        screen.answer("logs", answer == .yes ? "they are sent" : "nothing is sent")
    }

    /// Signs an account in whose token was refused for want of protection, and protects it.
    func remediate() async throws {
        let account = try await signInInBrowser().managed
        try await requireHere(account.id)
        guard let result = try await (try protected()).remediations.remediate(account) else {
            throw Problem("the account is being protected already")
        }
        guard result.status == .compliant else { throw Problem(result.message) }
        stayInTouch(account.id)
        await show(newAccount: account.id)
        screen.answer(
            "remediate", .line(result.message),
            ["account": .string(account.id.rawValue), "status": .integer(Int64(result.status.rawValue))])
    }
}
