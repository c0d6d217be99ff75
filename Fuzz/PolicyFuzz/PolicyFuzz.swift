import CordonIdentity
import CordonPolicy
import Foundation

/// Feeds foreign bytes to the parsers of policies, questions, configurations, scenarios and sentences.
/// Seeds are `Tests/Vectors/policy`.
///
/// Whatever parses must be written back as what was read, and whatever is asked must be answered the same
/// by the verdict alone and by the explanation.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPolicy(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = start.map { Data(bytes: $0, count: count) } ?? Data()
    sentences(String(decoding: bytes, as: UTF8.self))
    guard let json = try? JSONValue(parsing: bytes) else { return 0 }
    precondition((try? JSONValue(parsing: Data(json.text().utf8))) == json, "JSON changed on its way")
    precondition(
        (try? JSONValue(parsing: Data(json.text(pretty: true).utf8))) == json, "pretty JSON changed on its way")
    policy(json)
    question(json)
    _ = try? TargetedAppConfiguration(graphJSON: json)
    _ = try? PolicyScenario(json: json)
    if let members = json.object { _ = DeviceSettings(members).policy() }
    return 0
}

private func sentences(_ text: String) {
    _ = try? PolicySentence.sentences(in: text)
    guard let sentence = try? PolicySentence(text) else { return }
    precondition((try? PolicySentence(sentence.text))?.text == sentence.text, "a sentence changed on its way")
    // A long one may name so many values that trying them takes its time.
    guard text.utf8.count <= 64 else { return }
    let proof = PolicyProof(of: sentence, in: .baseline(.level3))
    precondition(proof.holds == (proof.counterexample == nil), "what does not hold has no counterexample")
}

private func policy(_ json: JSONValue) {
    guard let policy = try? AppProtectionPolicy(graphJSON: json) else { return }
    precondition(policy.graphJSON == json, "an unchanged policy is written differently")
    precondition(EffectivePolicy.merging([policy, policy])?.policy == policy, "merging with itself changed a policy")
    _ = PolicyLint.findings(in: policy, weakerThan: .baseline(.level3))
    let diff = PolicyDiff(from: policy, to: .baseline(.level2))
    precondition(diff.effects.allSatisfy { $0.from != $0.to }, "an effect that is none")
    for action in Action.allCases {
        _ = PolicySet(policy).verdict(for: Question(action, owner: .managed("a")))
    }
}

private func question(_ json: JSONValue) {
    let set = PolicySet(.baseline(.level3))
    precondition(set.answers(to: json).count == (json.array?.count ?? 1), "a question without an answer")
    guard let question = try? Question(json: json) else { return }
    precondition(set.verdict(for: question) == set.decision(for: question).verdict, "verdict and explanation differ")
}
