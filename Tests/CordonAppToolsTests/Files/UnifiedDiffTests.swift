import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

struct UnifiedDiffTests {
    @Test func `equal texts have no difference`() {
        #expect(UnifiedDiff(old: "a\nb", new: "a\nb", name: "f").description == "")
    }

    @Test func `a changed line stands between its neighbours`() {
        let diff = UnifiedDiff(old: "1\n2\n3\n4\n5\n6\n7\n8\n", new: "1\n2\n3\n4\nfive\n6\n7\n8\n", name: "f")
        #expect(
            diff.description
                == "--- f\n+++ f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n")
    }

    @Test(.enabled(if: Program.find("git") != nil, "needs git"), .seeded(as: 1), arguments: 0..<40)
    func `git applies it and gets the new text`(number: UInt64) throws {
        var random = SeededGenerator(TestSeed.current &+ number)
        func text(from lines: [String]) -> String {
            lines.joined(separator: random.next() % 4 == 0 ? "\r\n" : "\n") + (random.next() % 3 == 0 ? "" : "\n")
        }
        let lines = (0..<Int(random.next() % 30) + 1).map { _ in String(random.next() % 5) }
        var changed = lines
        for _ in 0..<4 {
            let place = Int(random.next() % UInt64(changed.count + 1))
            if random.next() % 2 == 0 || place == changed.count {
                changed.insert("new", at: place)
            } else {
                changed[place] = "x"
            }
        }
        let (old, new) = (text(from: lines), text(from: changed))
        let scratch = try Scratch()
        let file = try scratch.file("f", old)
        let patch = try scratch.file("p", UnifiedDiff(old: old, new: new, name: "f").description)
        guard old != new else { return }
        try Program.succeed(
            Program.find("git") ?? "", ["apply", "-p0", "--unidiff-zero", "--whitespace=nowarn", patch.path],
            in: scratch.folder)
        #expect(try String(contentsOf: file, encoding: .utf8) == new)
    }
}
