import CordonTestSupport
import Foundation
import Testing

/// The script that CI jobs run, with a program in the place of `cordon` that ends as the test says.
@Suite struct DeliverScriptTests {
    private static let examples = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "../../../Examples/Policies").standardized
    private static let git = Program.find("git")

    /// A plan with something to do, and an apply that makes one thing, notes its id, removes another one and ends with a status.
    private static let cordon = """
        #!/bin/sh
        echo "$@" >> "$CALLS"
        case $2 in
        lint) exit 0 ;;
        plan)
            echo '{"people": "ada"}' > "$3/cordon.plan.json"
            exit 1
            ;;
        esac
        mkdir -p "$3/secrets"
        echo hunter2 > "$3/secrets/vpn"
        echo '{"id": "T_1"}' > "$3/policies/new.json"
        rm "$3/policies/old.json"
        echo '{}' > "$3/cordon.lock.json"
        exit "$APPLY"
        """

    private struct Job {
        let folder: URL
        var environment: [String: String]

        /// What `cordon` was called with.
        var calls: [String] {
            get throws {
                try String(contentsOfFile: environment["CALLS"] ?? "", encoding: .utf8)
                    .split(separator: "\n").map(String.init)
            }
        }

        func run(_ script: String, _ words: String...) throws -> Program.Result {
            try Program.run(
                "/bin/sh", [DeliverScriptTests.examples.appending(path: script).path] + words, in: folder,
                environment: environment)
        }

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
        for name in ["new", "old"] {
            try Data("{}".utf8).write(to: repository.appending(path: "policies/policies/\(name).json"))
        }
        // As an earlier version of the script committed it.
        try Data("{}".utf8).write(to: repository.appending(path: "policies/cordon.plan.json"))
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
            let done = try job.run("deliver", "apply", "--take-files")
            #expect(done.status == Int32(status), "\(done.everything)")
            #expect(try job.git("show", "HEAD:policies/policies/new.json").text.contains("T_1"))
            let files = try job.git("ls-files", "policies").text.split(separator: "\n").map(String.init)
            #expect(files == ["policies/cordon.lock.json", "policies/policies/new.json"])
            // The plan names people, and a secret is none of a repository's business.
            #expect(
                try job.git("status", "--porcelain").text == "?? policies/cordon.plan.json\n?? policies/secrets/\n")
            let calls = try job.calls
            #expect(calls.count == 2 && calls.first == "policy plan policies --client pipeline --take-files")
            try FileManager.default.copyItem(
                at: Self.examples.appending(path: ".gitignore"), to: job.folder.appending(path: ".gitignore"))
            #expect(try job.git("status", "--porcelain").text == "?? .gitignore\n")
        }
    }

    @Test(.enabled(if: git != nil, "needs git"), arguments: [nil, "", "1"] as [String?])
    func `the job and the hook let the last file of a kind go where the environment says so`(said: String?) throws {
        try withJob(applyEndingWith: 0) { job in
            var job = job
            job.environment["CORDON_SERVICE"] = "https://mam.example.org"
            job.environment["CORDON_ALLOW_EMPTY"] = said
            #expect(try job.run("deliver", "plan").status == 0)
            try Data("{ }".utf8).write(to: job.folder.appending(path: "policies/policies/new.json"))
            #expect(try job.git("add", "policies/policies").status == 0)
            let hook = try job.run("pre-commit")
            #expect(hook.status == 0, "\(hook.everything)")
            let plans = try job.calls.filter { $0.hasPrefix("policy plan") }
            #expect(plans.count == 2)
            for plan in plans { #expect(plan.hasSuffix(" --allow-empty") == (said == "1"), "\(plan)") }
        }
    }
}
