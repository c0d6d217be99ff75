import CordonIdentity
import CordonPolicy
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

/// Proofs beside an enumeration that knows nothing of classes: every question of a small world, one after the other.
@Suite struct BruteForceTests {
    /// Some policies in a plain run and 10,000 in a deep one, each asked sentences about one action.
    @Test(.seeded) func `a sentence is proved exactly when no question of a small world breaks it`() throws {
        var outcomes: [Bool: Int] = [:]
        for round in DeepRun(plain: 40, deep: 10_000) {
            var random = SeededGenerator(TestSeed.next())
            let policy = try PolicyGenerator.policy(&random, id: "P")
            let set = PolicySet(policy)
            let action = Self.actions[round % Self.actions.count]
            let answered = Self.questions(action).map { ($0, set.verdict(for: $0)) }
            for _ in 0..<4 {
                let sentence = Self.sentence(action, &random)
                let proof = PolicyProof(of: sentence, in: policy)
                let breaking = answered.first { sentence.isBroken(by: $0.0, answered: $0.1) }
                #expect(
                    proof.holds == (breaking == nil),
                    "\(sentence.text): \((breaking?.0.json ?? proof.counterexample)?.text() ?? "")")
                outcomes[proof.holds, default: 0] += 1
            }
        }
        #expect(outcomes.count == 2, "some hold and some do not: \(outcomes)")
    }

    private static let actions: [Action] = [
        .print, .saveTo, .openFrom, .receive, .receiveItem, .paste, .copy, .send, .webUpload, .webPaste, .openURL,
        .openUniversalLink, .notify, .captureScreen, .useKeyboard,
    ]

    private static func sentence(_ action: Action, _ random: inout SeededGenerator) -> PolicySentence {
        let openings = ["never", "always", "never block", "always allow", "never restrict", "always block"]
        let owners = ["managed", "personal", "anyone", "lost", "unset", "unknown"]
        let others = ["same", "other", "managed", "personal", "unmanaged", "exempt", "unknown", "anyone"]
        let facts = facts(action)
        let comesIn = [Action.receive, .receiveItem, .paste, .openFrom].contains(action)
        while true {
            func pick(_ words: [String]) -> String { words.randomElement(using: &random) ?? "" }
            var text = "\(pick(openings)) \(action.rawValue)"
            if Bool.random(using: &random) { text += " \(comesIn ? "to" : "from") \(pick(owners))" }
            if Bool.random(using: &random) { text += " \(comesIn ? "from" : "to") \(pick(others))" }
            if Bool.random(using: &random) { text += " if \(pick(facts))" }
            if Bool.random(using: &random) { text += " unless \(pick(facts)) \(pick(["and", "or"])) \(pick(facts))" }
            if let sentence = try? PolicySentence(text) { return sentence }
        }
    }

    /// What can be said of the facts that ``questions(_:)`` varies.
    private static func facts(_ action: Action) -> [String] {
        var facts = ["shown-with is others"]
        if [.saveTo, .openFrom].contains(action) {
            facts += ["location is box", "location is camera", "account is own"]
        }
        if [.send, .openURL, .openUniversalLink].contains(action) { facts += ["scheme is mailto", "scheme is tel"] }
        if action == .receiveItem { facts += ["loaded", "not loaded", "loaded is unknown"] }
        if [.copy, .paste, .webPaste].contains(action) {
            facts += ["characters above 3", "characters at most 10", "characters is unknown", "viewer is unmanaged"]
        }
        if [.saveTo, .send, .print, .webUpload, .webPaste].contains(action) {
            facts += ["online is false", "content is permitted", "content is unknown"]
        }
        return facts
    }

    /// Every question about an action in a world of two work accounts, a few places and a few links.
    private static func questions(_ action: Action) -> [Question] {
        var all = [Question(action, owner: nil)]
        func vary<Value>(_ path: WritableKeyPath<Question, Value>, _ values: [Value]) {
            all = all.flatMap { question in
                values.map { value in
                    var question = question
                    question[keyPath: path] = value
                    return question
                }
            }
        }
        vary(\.owner, [.managed("work-account"), .personal, .unset, .lost, nil])
        vary(\.coVisibleIdentities, [[], [.managed("other-work-account")]])
        switch action {
        case .saveTo, .openFrom:
            vary(\.location, Location.allCases.map(Optional.some) + [nil])
            vary(\.locationAccount, ["work-account", "other-work-account", nil])
        case .send, .receive, .receiveItem, .copy, .paste, .openURL, .openUniversalLink: vary(\.peer, peers)
        default: break
        }
        if [.send, .openURL, .openUniversalLink].contains(action) { vary(\.url, links) }
        if action == .receiveItem { vary(\.loaded, [true, false, nil]) }
        if [.copy, .paste, .webPaste].contains(action) {
            vary(\.characters, [nil, 0, 2, 3, 4, 9, 10, 11, 12])
            vary(\.viewer, [.unset, .unmanaged, .currentIdentity, .currentIdentityWithoutUploadAndPaste])
            vary(\.webViewersUnmanaged, [true, false])
        } else if action == .webUpload {
            vary(\.viewer, [.unset, .unmanaged, .currentIdentity, .currentIdentityWithoutUploadAndPaste])
            vary(\.webViewersUnmanaged, [true, false])
        }
        if [.saveTo, .send, .print, .webUpload, .webPaste].contains(action) {
            vary(\.contentEvaluation, [.permitted, .refused, nil])
            vary(\.device.online, [true, false])
        } else if action == .copy {
            vary(\.contentEvaluation, [.permitted, nil])
        }
        return all
    }

    private static let peers: [Peer?] = {
        let accounts: [Peer.Account] = [
            .managed("work-account"), .managed("other-work-account"), .managed(nil), .unmanaged, .none,
        ]
        return [Peer.App.managed, .unmanaged, .exempt].flatMap { app in
            accounts.map { Peer(app: app, account: $0) }
        } + [nil]
    }()

    private static let links: [String?] = [
        nil, "", "no scheme", "https://unlisted.invalid/x", "https://maps.example.com/x", "tel:1", "telprompt:1",
        "sms:1", "mailto:a@example.test", "unlisted:x", "tel://host/1", "mailto://host/a", "unlisted://host", "https:a",
    ]
}

extension BruteForceTests {
    @Test func `a link without a host is a class of its own`() throws {
        let policy = AppProtectionPolicy.baseline(.level3)
        let sentence = try PolicySentence("always allow openUniversalLink from managed to same if scheme is tel")
        var question = Question(.openUniversalLink, owner: .managed("work-account"))
        (question.peer, question.url) = (.managed("work-account"), "tel:1")
        #expect(PolicySet(policy).verdict(for: question) == .block)
        #expect(!PolicyProof(of: sentence, in: policy).holds)
    }
}

/// Texts that no one means as a sentence.
@Suite struct SentenceTextTests {
    @Test(.seeded) func `no text stops the reader, and what is read is read again as the same`() throws {
        var random = SeededGenerator()
        var read = 0
        for _ in 0..<4000 {
            let text = Self.text(&random)
            guard let sentence = try? PolicySentence(text) else { continue }
            read += 1
            let again = try PolicySentence(sentence.text)
            #expect(again.text == sentence.text && again.action == sentence.action, "\(text)")
        }
        #expect(read > 20, "only \(read) of the texts are sentences")
    }

    @Test func `numbers, times and versions at their ends are decided`() throws {
        for value in ["0", "9223372036854775807", "-1", "9223372036854775808"] {
            for text in ["never copy if characters above \(value)", "never launch if attempts at least \(value)"] {
                guard let sentence = try? PolicySentence(text) else { continue }
                #expect(PolicyProof(of: sentence, in: .baseline(.level3)).classes > 0, "\(text)")
            }
        }
        for value in ["100000d", "0s", "P3660000D", "PT0.001S"] {
            let sentence = try PolicySentence("never wipe launch if offline below \(value)")
            #expect(PolicyProof(of: sentence, in: .baseline(.level3)).classes >= 0, "\(value)")
        }
        for value in ["0", "0.0.0.0", "2147483647.2147483647.2147483647.2147483647"] {
            let sentence = try PolicySentence("never launch from managed if os below \(value)")
            #expect(PolicyProof(of: sentence, in: .baseline(.level3)).classes >= 0, "\(value)")
        }
    }

    private static let words = [
        "never", "always", "only", "if", "unless", "and", "or", "not", "is", "at", "least", "most", "above", "below",
        "from", "to", "managed", "personal", "anyone", "exempt", "unknown", "copy", "launch", "save", "openURL",
        "print",
        "block", "wipe", "allow", "rooted", "os", "17.4", "offline", "90d", "characters", "12", "scheme", "tel", "true",
        "-1", "99999999999999999999", "1.2.3.4.5", "P1D", "\u{0}", "é", "\u{301}", ",", "🏳️‍🌈", "ǅ", "İ",
    ]

    private static func text(_ random: inout SeededGenerator) -> String {
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            let bytes = (0..<Int.random(in: 0..<80, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            return String(decoding: bytes, as: UTF8.self)
        case 1:
            // Grammatical at the outset, so that the rest is reached.
            let rest = (0..<Int.random(in: 0..<6, using: &random)).compactMap { _ in words.randomElement(using: &random)
            }
            return (["never", "copy", "if"] + rest).joined(separator: " ")
        case 2:
            return "never \(["print", "launch", "save"].randomElement(using: &random) ?? "")"
                + (Bool.random(using: &random) ? " from managed" : " if online or not loaded and offline above 3h")
        default:
            return (0..<Int.random(in: 0..<12, using: &random)).compactMap { _ in words.randomElement(using: &random) }
                .joined(separator: " ")
        }
    }
}
