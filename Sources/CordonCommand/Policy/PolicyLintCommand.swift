internal import ArgumentParser
internal import CordonPolicy
internal import Foundation

/// `cordon policy lint`: what in a policy cannot be meant.
struct PolicyLintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint", abstract: "Check policies for unknown, contradictory and weak settings.",
        discussion: """
            Exit status 1 when an error or a warning is found, 3 when a policy cannot be read.

            Example: cordon policy lint pilot.json --baseline level2
            """)

    @Argument(help: "Policies; - is standard input.")
    var files: [String]

    @Option(help: "Also report what is weaker than level1, level2, level3 or the policy in a file.")
    var baseline: String?

    @Flag(help: "Fix what cannot change an answer, in files with one policy.")
    var fix = false

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        if fix { try mend() }
        let measure = try baseline.map(readBaseline)
        var reports: [Report] = []
        var isReadable = true
        var names: [String: String] = [:]
        var count = 0
        for file in files {
            let documents = try PolicyFiles.documents(file)
            guard !documents.isEmpty else {
                throw CommandFailure(.badInput, "\(file): no policy is in it", hint: "Name a file with a policy.")
            }
            count += documents.count
            for document in documents {
                reports += repeated(document, in: file, &names)
                try PolicyFiles.checkShape(of: document, in: file)
                guard let policy = try? AppProtectionPolicy(graphJSON: document) else {
                    isReadable = false
                    reports += AppProtectionPolicy.problems(in: document).map {
                        Report(
                            file: file, policy: document["displayName"]?.string ?? "", severity: .error,
                            code: $0.code.rawValue, setting: $0.place,
                            message: $0.reason + ($0.hint.map { " (\($0))" } ?? ""))
                    }
                    continue
                }
                reports += PolicyLint.findings(in: policy, weakerThan: measure).map {
                    Report(
                        file: file, policy: policy.displayName, severity: $0.severity, code: $0.code,
                        setting: $0.setting,
                        message: $0.message)
                }
            }
        }
        if json {
            try Terminal.json(reports)
        } else {
            for report in reports { Terminal.data(report.line) }
        }
        // An empty answer could as well mean that nothing was looked at.
        if reports.isEmpty { Terminal.talk(count == 1 ? "one policy, no finding" : "\(count) policies, no finding") }
        let serious = reports.count { $0.severity != .note }
        guard serious == 0 else {
            throw CommandFailure(isReadable ? .notInWantedState : .badInput, Self.count(reports.map(\.severity)))
        }
    }

    /// How many errors and warnings there are, in words; what is only noted does not count.
    static func count(_ found: [LintFinding.Severity]) -> String {
        [(LintFinding.Severity.error, "error"), (.warning, "warning")].compactMap { severity, word -> String? in
            switch found.count(where: { $0 == severity }) {
            case 0: nil
            case 1: "one \(word)"
            case let number: "\(number) \(word)s"
            }
        }.joined(separator: ", ")
    }

    /// Tools tell policies apart by name and type: of two with the same, one takes the other's place (SRV-RS-017).
    private func repeated(_ document: JSONValue, in file: String, _ names: inout [String: String]) -> [Report] {
        guard let name = document["displayName"]?.string, !name.isEmpty else { return [] }
        let type = (document["@odata.type"]?.string ?? "").drop { $0 == "#" }
        guard let first = names.updateValue(file, forKey: "\(type)/\(name)") else { return [] }
        return [
            Report(
                file: file, policy: name, severity: .warning, code: "same-name", setting: "displayName",
                message: "\"\(name)\" is also the name of a policy in \(first)")
        ]
    }

    /// Writes each file of one policy anew where a fix is offered; the others are left as they are.
    private func mend() throws {
        for file in files where file != "-" {
            let document = try PolicyFiles.json(file)
            guard document.object != nil, document["value"] == nil,
                let policy = try? AppProtectionPolicy(graphJSON: document)
            else { continue }
            let fixed = PolicyLint.fixed(policy)
            guard fixed != policy else { continue }
            do {
                try Data((fixed.graphJSON.text(pretty: true) + "\n").utf8).write(
                    to: URL(fileURLWithPath: file), options: .atomic)
            } catch {
                throw CommandFailure(.writeFailed, "\(file): cannot be written")
            }
            Terminal.talk("\(file): mended")
        }
    }

    private func readBaseline(_ name: String) throws -> AppProtectionPolicy {
        if let level = AppProtectionPolicy.Baseline(rawValue: name) { return .baseline(level) }
        guard name == "-" || FileManager.default.fileExists(atPath: name) else {
            let levels = AppProtectionPolicy.Baseline.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure(
                .badInput, "\(name) is neither a baseline nor a file", hint: "Use \(levels), or name a file.")
        }
        return try PolicyFiles.policy(name)
    }

    /// One finding with the file it was found in.
    private struct Report: Encodable {
        let file: String
        let policy: String
        let severity: LintFinding.Severity
        let code: String
        let setting: String
        let message: String

        /// `path: severity: code: message` (TL-GN-03).
        var line: String {
            let word =
                switch severity {
                case .error: Style.red(severity.rawValue)
                case .warning: Style.yellow(severity.rawValue)
                case .note: Style.dim(severity.rawValue)
                }
            return "\(file): \(word): \(code): \(setting.isEmpty ? "" : setting + ": ")\(message)"
        }
    }
}
