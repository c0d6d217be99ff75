import CordonDemo
import CordonPolicy
import CordonTestSupport
import Foundation
import Testing

/// `cordon demo` as a newcomer runs it.
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct DemoTests {
    private struct Report: Decodable {
        let steps: [DemoStep]
        let expectations: Int
        let met: Int
    }

    private func run(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        let process = try ChildProcess(Programs.cordon, ["demo"] + arguments)
        var output = ""
        for await line in process.lines { output += line + "\n" }
        let status = await process.wait()
        return (status, output, await process.lastWords)
    }

    @Test func `the demo meets every expectation and says so in its last line`() async throws {
        let (status, output, errors) = try await run([])
        #expect(status == 0, "\(errors)")
        let last = try #require(output.split(separator: "\n").last)
        let counts = last.matches(of: /\d+/).compactMap { Int($0.output) }
        #expect(last.hasSuffix("expectations met"))
        #expect(counts.count == 2 && counts[0] == counts[1] && counts[0] >= 7, "\(last)")
    }

    @Test func `the demo leaves no process and no file behind`() async throws {
        let temporary = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(temporary) }
        let process = try ChildProcess(Programs.cordon, ["demo"], environment: ["TMPDIR": temporary.path])
        var sawItsFolder = false
        for await _ in process.lines {
            sawItsFolder = try sawItsFolder || !FileManager.default.contentsOfDirectory(atPath: temporary.path).isEmpty
        }
        #expect(await process.wait() == 0)
        #expect(sawItsFolder, "the demo worked where the test looks")
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path).isEmpty)
        let left = try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { name in
            let line = FileManager.default.contents(atPath: "/proc/\(name)/cmdline") ?? Data()
            return Int32(name) != nil && String(decoding: line, as: UTF8.self).contains(temporary.path)
        }
        #expect(left.isEmpty)
    }

    @Test func `with json each step has name, verdict, duration and measured facts`() async throws {
        let (status, output, errors) = try await run(["--json", "--seed", "7"])
        #expect(status == 0, "\(errors)")
        let report = try JSONDecoder().decode(Report.self, from: Data(output.utf8))
        #expect(
            report.steps.map(\.name) == [
                "publish", "enroll", "write", "raw-bytes", "refuse", "change", "hand-over", "wipe", "audit",
            ])
        #expect(report.met == report.expectations)
        #expect(report.steps.allSatisfy { $0.milliseconds > 0 && !$0.facts.isEmpty && $0.verdict == "pass" })
    }

    /// An app that keeps a plain copy of what is typed: the kind of leak that the raw-bytes step is there to find.
    @Test func `an app that leaks makes the demo fail and name the expectation`() async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let leaky = folder.appending(path: "leaky-app")
        let script = """
            #!/bin/sh
            # Arguments begin with: --home FOLDER
            mkdir -p "$2"
            tee "$2/typed.log" | "\(Programs.fieldNotes.path)" "$@"
            """
        try Data(script.utf8).write(to: leaky)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: leaky.path)
        let (status, output, errors) = try await run(["--json", "--app", leaky.path])
        #expect(status == 1)
        #expect(errors.isEmpty || !errors.contains("cannot"), "\(errors)")
        let report = try JSONDecoder().decode(Report.self, from: Data(output.utf8))
        let failed = report.steps.flatMap(\.expectations).filter { !$0.held }.map(\.what)
        #expect(failed.contains("none of the planted texts is readable"))
    }

    @Test func `an app that is not there is a one-line error with a hint`() async throws {
        let (status, output, errors) = try await run(["--app", "/nowhere/app"])
        #expect(status == 3)
        #expect(output.isEmpty)
        #expect(errors.contains("no example app") && errors.contains("swift build"))
    }
}
