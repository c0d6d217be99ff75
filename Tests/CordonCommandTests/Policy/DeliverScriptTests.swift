import CordonTestSupport
import Foundation
import Testing

/// The script that CI jobs run, with a program in the place of `cordon` that ends as the test says.
@Suite struct DeliverScriptTests {
    private static let examples = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "../../../Examples/Policies").standardized
    private static let git = Program.find("git")

    /// A plan with something to do, and an apply that makes one thing, notes its id and ends with a status.
    private static let cordon = """
        #!/bin/sh
        echo "$@" >> "$CALLS"
        [ "$2" = plan ] && exit 1
        echo '{"id": "T_1"}' > "$3/policies/new.json"
        exit "$APPLY"
        """

    private struct Job {
        let folder: URL
        let environment: [String: String]

        func git(_ words: String...) throws -> Program.Result {
            try Program.run(DeliverScriptTests.git ?? "git", words, in: folder, environment: environment)
        }
    }

    private func withJob(applyEndingWith status: Int, _ body: (Job) throws -> Void) throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let (programs, repository) = (folder.appending(path: "bin"), folder.appending(path: "repository"))
        for place in [programs, repository.appending(path: "policies/policies")] {
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        }
        try Data(Self.cordon.utf8).write(to: programs.appending(path: "cordon"))
        #expect(chmod(programs.appending(path: "cordon").path, 0o755) == 0)
        try Data("{}".utf8).write(to: repository.appending(path: "policies/policies/new.json"))
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let job = Job(
            folder: repository,
            environment: [
                "PATH": "\(programs.path):\(path)", "CALLS": folder.appending(path: "calls").path,
                "APPLY": String(status), "CORDON_CLIENT": "pipeline", "CORDON_POLICIES": "policies",
                "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org",
                "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org",
            ])
        for words in [["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "New"]] {
            let done = try Program.run(Self.git ?? "git", words, in: repository, environment: job.environment)
            #expect(done.status == 0, "\(done.everything)")
        }
        try body(job)
    }

    @Test(.enabled(if: git != nil, "needs git"), arguments: [0, 4])
    func `what apply made is committed also where it stopped, and the job ends as apply did`(status: Int) throws {
        try withJob(applyEndingWith: status) { job in
            let done = try Program.run(
                "/bin/sh", [Self.examples.appending(path: "deliver").path, "apply", "--allow-empty"], in: job.folder,
                environment: job.environment)
            #expect(done.status == Int32(status), "\(done.everything)")
            #expect(try job.git("show", "HEAD:policies/policies/new.json").text.contains("T_1"))
            #expect(try job.git("status", "--porcelain").text == "")
            let calls = try String(contentsOfFile: job.environment["CALLS"] ?? "", encoding: .utf8)
                .split(separator: "\n")
            #expect(calls.count == 2 && calls.first == "policy plan policies --client pipeline --allow-empty")
        }
    }
}
