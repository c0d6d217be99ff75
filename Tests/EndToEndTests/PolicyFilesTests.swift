import CordonDemo
import CordonPolicy
import CordonTestSupport
import Foundation
import Testing

/// Policies in a repository against a service, with the programs and the scripts that administrators use.
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct PolicyFilesTests {
    private static let examples = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "../../Examples/Policies").standardized
    private static let hasGit = FileManager.default.isExecutableFile(atPath: "/usr/bin/git")

    /// A service, a repository, and a program that may change policies.
    private struct Repository {
        let stage: DemoStage
        let environment: [String: String]
        var folder: URL { stage.folder.appending(path: "repository") }

        init(on stage: DemoStage) async throws {
            self.stage = stage
            let service = try await stage.runningService()
            let secrets = try String(
                contentsOf: stage.serviceFolder.appending(path: "client-secrets.txt"), encoding: .utf8)
            let secret = secrets.split(separator: "\n").last?.split(separator: " ").last.map(String.init) ?? ""
            environment = [
                "CORDON_SERVICE": service.address.absoluteString, "CORDON_CLIENT": "cordon-automation",
                "CORDON_CLIENT_SECRET": secret, "VPN_PASSWORD": "correct horse",
                "PATH": Programs.folder.path + ":/usr/bin:/bin", "GIT_CONFIG_GLOBAL": "/dev/null",
                "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_COMMITTER_NAME": "Ada",
                "GIT_COMMITTER_EMAIL": "ada@example.org",
            ]
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        /// Runs one line of a shell in the repository.
        func shell(_ line: String) async throws -> (status: Int32, output: String, words: String) {
            let process = try ChildProcess(
                URL(filePath: "/bin/sh"), ["-c", "cd '\(folder.path)' && \(line)"], environment: environment)
            var output = ""
            for await said in process.lines { output += said + "\n" }
            let status = await process.wait()
            return (status, output, await process.standardErrorTail)
        }

        /// Runs `cordon policy`.
        func policy(_ line: String) async throws -> (status: Int32, output: String, words: String) {
            try await shell("cordon policy \(line) --client cordon-automation")
        }

        func read(_ path: String) throws -> JSONValue {
            try JSONValue(parsing: Data(contentsOf: folder.appending(path: path)))
        }

        func edit(_ path: String, _ members: [String: JSONValue]) throws {
            let all = (try read(path).object ?? [:]).merging(members) { $1 }
            try Data(JSONValue.object(all).text(pretty: true).utf8).write(to: folder.appending(path: path))
        }
    }

    @Test func `a policy is published, pulled, planned and applied, and a change on the service is told`() async throws
    {
        try await Programs.onStage { stage in
            let repository = try await Repository(on: stage)
            let baseline = try await repository.shell("cordon policy baseline level2 --name Pilot > pilot.json")
            #expect(baseline.status == 0)
            let publish = "publish pilot.json --app example.cordon.fieldnotes --group 'Field workers'"
            let published = try await repository.policy(publish)
            #expect(published.status == 0, "\(published.words)")
            let id = published.output.split(separator: "\n").last.map(String.init) ?? ""
            #expect(id.hasPrefix("T_"))
            #expect(try await repository.policy(publish).status == 4, "one of this name is there")

            let pulled = try await repository.policy("pull policies")
            #expect(pulled.status == 0, "\(pulled.words)")
            let file = "policies/policies/pilot.json"
            #expect(try repository.read(file)["id"]?.string == id)
            let nothing = try await repository.policy("plan policies")
            #expect(nothing.status == 0, "\(nothing.output) \(nothing.words)")

            try repository.edit(file, ["printBlocked": true])
            let plan = try await repository.policy("plan policies")
            #expect(plan.status == 1 && plan.output.contains("printBlocked"), "\(plan.output) \(plan.words)")
            let applied = try await repository.policy("apply policies --reason 'as planned'")
            #expect(applied.status == 0, "\(applied.words)")
            let administrator = try await stage.administrator()
            #expect(try await administrator.policy(id)["printBlocked"] == true)
            #expect(try await repository.policy("plan policies").status == 0)

            try await administrator.change(id, .object(["printBlocked": .bool(false)]))
            let drift = try await repository.policy("plan policies --json")
            #expect(drift.status == 4 && drift.output.contains("printBlocked"), "\(drift.output)")
            #expect(try await repository.policy("apply policies").status == 4)
            #expect(try await administrator.policy(id)["printBlocked"] == false)
            let log = String(decoding: try await administrator.auditLog(), as: UTF8.self)
            #expect(log.contains("as planned"))
        }
    }

    @Test func `a new configuration takes its secret from the environment, and no file or plan holds it`() async throws
    {
        try await Programs.onStage { stage in
            let repository = try await Repository(on: stage)
            #expect(try await repository.policy("pull policies").status == 0)
            let file = repository.folder.appending(path: "policies/configurations/vpn.json")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            let document: JSONValue = [
                "@odata.type": "#microsoft.graph.targetedManagedAppConfiguration", "displayName": "VPN",
                "customSettings": [["name": "vpnPassword", "value": ["fromEnvironment": "VPN_PASSWORD"]]],
            ]
            try Data(document.text().utf8).write(to: file)
            let plan = try await repository.policy("plan policies")
            #expect(plan.status == 1, "\(plan.words)")
            let kept = try String(
                contentsOf: repository.folder.appending(path: "policies/cordon.plan.json"), encoding: .utf8)
            #expect(!kept.contains("correct horse") && kept.contains("cordon-secret:"))
            let applied = try await repository.policy("apply policies")
            #expect(applied.status == 0, "\(applied.words)")
            #expect(try await repository.policy("plan policies").status == 0)
            // The same value is no change, and stays where it is kept.
            #expect(try await repository.policy("pull policies").status == 0)
            let pair = try repository.read("policies/configurations/vpn.json")["customSettings"]?.array?.first
            #expect(pair?["value"]?["fromEnvironment"] == "VPN_PASSWORD")
            let all = try await repository.shell("grep -r 'correct horse' policies || true")
            #expect(all.output == "")
        }
    }

    @Test(.enabled(if: hasGit, "needs git"))
    func `the hook stops a misspelt setting, and the job applies what was committed`() async throws {
        try await Programs.onStage { stage in
            let repository = try await Repository(on: stage)
            let steps = [
                "git init --quiet --initial-branch main", "cp '\(Self.examples.path)/deliver' .",
                "cp '\(Self.examples.path)/pre-commit' .git/hooks/pre-commit",
                "cordon policy baseline level2 --name Pilot > pilot.json",
                "printf 'cordon.plan.json\\n' > .gitignore",
                "cordon policy publish pilot.json --app example.cordon.fieldnotes --everybody --client cordon-automation",
                "cordon policy pull policies --client cordon-automation", "git add deliver .gitignore policies",
                "git commit --quiet --message 'What the service says'",
            ]
            for step in steps {
                let done = try await repository.shell(step)
                #expect(done.status == 0, "\(step): \(done.output) \(done.words)")
            }
            let file = "policies/policies/pilot.json"
            try repository.edit(file, ["printBloked": true])
            let refused = try await repository.shell("git commit --quiet --all --message Misspelt")
            #expect(refused.status != 0 && (refused.output + refused.words).contains("printBloked"))
            let whole = try repository.read(file).object ?? [:]
            let mended = whole.filter { $0.key != "printBloked" }.merging(["printBlocked": true]) { $1 }
            try Data(JSONValue.object(mended).text(pretty: true).utf8).write(
                to: repository.folder.appending(path: file))
            let committed = try await repository.shell("git commit --quiet --all --message 'No printing'")
            #expect(committed.status == 0, "\(committed.output) \(committed.words)")
            #expect((committed.output + committed.words).contains("printBlocked"), "the plan is shown")

            let proposed = try await repository.shell("./deliver plan")
            #expect(proposed.status == 0, "\(proposed.words)")
            let id = try repository.read(file)["id"]?.string ?? ""
            let administrator = try await stage.administrator()
            #expect(try await administrator.policy(id)["printBlocked"] == false, "a plan writes nothing")
            let delivered = try await repository.shell("./deliver apply")
            #expect(delivered.status == 0, "\(delivered.output) \(delivered.words)")
            #expect(try await administrator.policy(id)["printBlocked"] == true)
            let clean = try await repository.shell("git status --porcelain && ./deliver apply")
            #expect(clean.status == 0 && !clean.output.contains("policies/"), "\(clean.output)")
        }
    }
}
