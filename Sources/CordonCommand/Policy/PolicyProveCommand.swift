internal import ArgumentParser
internal import CordonPolicy
internal import Foundation

/// `cordon policy prove`: whether a sentence holds of a policy, over every question there is.
struct PolicyProveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prove", abstract: "Prove a sentence about policies, or show a question that breaks it.",
        discussion: """
            Without --sentences, --promises or --nowhere-weaker-than, the first argument is the sentence. A counterexample is a \
            question that cordon policy explain takes. Exit status 1 when a sentence does not hold.

            Examples:
              cordon policy prove 'never copy from managed to personal' export.json
              cordon policy prove --promises export.json
            """)

    @Argument(help: "The sentence, then policies; - is standard input.")
    var arguments: [String]

    @Option(help: "A file of sentences, one a line.")
    var sentences: String?

    @Flag(help: "Prove the twelve ready sentences.")
    var promises = false

    @Option(help: "Prove that no question gets a milder answer than from the policy in this file.")
    var nowhereWeakerThan: String?

    @Option(help: "Write the first counterexample to this file.")
    var counterexample: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        var files = arguments
        var asked: [PolicySentence] = promises ? PolicySentence.promises : []
        if let sentences {
            guard let text = String(bytes: try PolicyFiles.data(sentences), encoding: .utf8) else {
                throw CommandFailure(.badInput, "\(sentences): not UTF-8")
            }
            asked += try PolicyFiles.named(sentences) { () throws(PolicyError) -> [PolicySentence] in
                try PolicySentence.sentences(in: text)
            }
        }
        if !promises && sentences == nil && nowhereWeakerThan == nil {
            let sentence = files.removeFirst()
            do {
                asked.append(try PolicySentence(sentence))
            } catch {
                throw CommandFailure(.usage, "\(error.place): \(error.reason)", hint: error.hint)
            }
        }
        guard !files.isEmpty else {
            throw CommandFailure(.usage, "no policy is named", hint: "Name a file after the sentence.")
        }
        let before = try nowhereWeakerThan.map { try PolicyFiles.policy($0) }
        var reports: [Report] = []
        for file in files {
            for policy in try PolicyFiles.policies(file) {
                var proofs = asked.map { PolicyProof(of: $0, in: policy) }
                if let before { proofs.append(PolicyProof(that: policy, isNowhereWeakerThan: before)) }
                reports += proofs.map { Report(file: file, policy: policy.displayName, proof: $0) }
            }
        }
        try tell(reports)
    }

    private func tell(_ reports: [Report]) throws {
        if let counterexample, let question = reports.lazy.compactMap(\.proof.counterexample).first {
            do {
                try Data((question.text() + "\n").utf8).write(to: URL(fileURLWithPath: counterexample))
            } catch {
                throw CommandFailure(.writeFailed, "\(counterexample): cannot be written")
            }
        }
        if json {
            try Terminal.json(reports)
        } else {
            for report in reports { report.print() }
        }
        let broken = reports.count { !$0.proof.holds }
        guard broken == 0 else {
            throw CommandFailure(
                .notInWantedState,
                "\(broken) of \(reports.count) \(reports.count == 1 ? "sentence" : "sentences") not true")
        }
    }

    /// One proof with the file that its policy is in.
    private struct Report: Encodable {
        let file: String
        let policy: String
        let proof: PolicyProof

        func print() {
            guard !proof.holds else {
                let count =
                    proof.classes == .max
                    ? "more classes of questions than can be counted" : "\(proof.classes) classes of questions"
                Terminal.data("\(file): \(Style.green("proved")): \(proof.sentence) (\(count))")
                return
            }
            Terminal.data("\(file): \(Style.red("not true")): \(proof.sentence)")
            let was = proof.verdictBefore.map { ", \(PolicyReport.word($0)) before" } ?? ""
            if let verdict = proof.verdict { Terminal.data("  answered: \(PolicyReport.word(verdict))\(was)") }
            if let question = proof.counterexample { Terminal.data("  question: \(question.text())") }
        }
    }
}
