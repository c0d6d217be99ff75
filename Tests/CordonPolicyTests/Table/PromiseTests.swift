import CordonPolicy
import Foundation
import Testing

/// What `Scripts/mutation.py` asks of each mutant, and whether its list is about the rules as they stand.
@Suite struct PromiseTests {
    @Test func `no promise is broken of the strictest baseline`() {
        #expect(PolicySentence.promises.count == 12)
        for sentence in PolicySentence.promises {
            let proof = PolicyProof(of: sentence, in: .baseline(.level3))
            #expect(proof.holds, "\(sentence.text): \(proof.counterexample?.text() ?? "")")
        }
    }
}

@Suite struct MutantListTests {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: tests.appendingPathComponent("mutants.txt").path),
            "needs the list, which a mutant's own tree has not"))
    func `every weakening of the list changes text that is in the rules, and some are within the promises' reach`()
        throws
    {
        let rules = Self.tests.deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Sources/CordonPolicy")
        let list = try String(contentsOf: Self.tests.appendingPathComponent("mutants.txt"), encoding: .utf8)
        var marked = 0
        for line in list.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            #expect(parts.count == 3 || parts.count == 4 && parts[3] == "PromiseTests", "\(line)")
            guard parts.count >= 3 else { continue }
            let text = try String(contentsOf: rules.appendingPathComponent(parts[0]), encoding: .utf8)
            #expect(text.contains(parts[1]) && parts[1] != parts[2], "\(line)")
            if parts.count == 4 { marked += 1 }
        }
        #expect(marked > 0)
    }
}
