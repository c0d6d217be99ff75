import CordonPolicy
import CordonService
import CordonTestSupport
import Foundation
import Testing

/// The chain can be checked without any code of Cordon: sorted JSON without spaces, SHA-256, nothing else.
struct IndependentReaderTests {
    private static let script = """
        import hashlib, json, sys
        previous, count = "0" * 64, 0
        for line in sys.stdin:
            record = json.loads(line)
            if "checkpoint" in record: break
            claimed = record.pop("hash")
            text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            assert hashlib.sha256(text.encode()).hexdigest() == claimed, count
            assert record["previousHash"] == previous and record["sequence"] == count + 1, count
            previous, count = claimed, count + 1
        print(count)
        """

    @Test(.enabled(if: Program.python != nil, "needs python3"))
    func `twenty lines of Python find the same chain`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(["description": "Ünï\"\\\n🦊"], name: "Ünï🦊", to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        let lines = try await test.export()
        let answer = try Program.runPython(
            ["-c", Self.script], input: Data((lines.joined(separator: "\n") + "\n").utf8))
        #expect(answer.text == "\(lines.count - 1)\n")
        #expect(answer.status == 0)
    }
}
