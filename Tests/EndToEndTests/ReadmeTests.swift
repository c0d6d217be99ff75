import CordonLeakScan
import CordonPolicy
import CordonTestSupport
import Foundation
import Testing

@testable import CordonDemo

/// The README, carried out: its lines for an administrator as they stand there, its lines for an app as they are compiled.
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct ReadmeTests {
    private static let root = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "../..").standardized

    /// The first block of shell lines in the README with some words in it.
    private func block(with words: String) throws -> String {
        let text = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
        return try #require(
            text.components(separatedBy: "```sh\n").dropFirst().compactMap { $0.components(separatedBy: "```").first }
                .first { $0.contains(words) })
    }

    /// Publishes the README's first policy; what the shell said.
    private func publish(on stage: DemoStage) async throws -> String {
        let service = try await stage.runningService()
        let shell = try ChildProcess(
            URL(filePath: "/bin/bash"), ["-euo", "pipefail", "-c", try block(with: "client-secrets.txt")],
            environment: ["service": service.address.absoluteString, "data": stage.serviceFolder.path])
        var said = ""
        for await line in shell.lines { said += line + "\n" }
        let status = await shell.wait()
        let words = await shell.standardErrorTail
        #expect(status == 0, "\(words)")
        return said
    }

    /// Runs the README's app as the worker would; what it showed.
    private func report(_ name: String, on stage: DemoStage) async throws -> [String] {
        let service = try await stage.runningService()
        let (user, password) = try stage.worker()
        let app = try ChildProcess(
            Programs.folder.appending(path: "ProtectAnApp"),
            [service.address.absoluteString, service.rootKey, stage.home(of: name).path])
        let person = Person(name: user, password: password)
        let transport = stage.transport
        var shown: [String] = []
        for await line in app.lines {
            shown.append(line)
            if line.hasPrefix("open: "), let page = URL(string: String(line.dropFirst(6))) {
                // A visit that fails shows in what the app says.
                Task { try? await person.visit(page, over: transport) }
            } else if line.hasPrefix("New PIN") || line.hasPrefix("The same") {
                app.send("2580")
            } else if line.hasSuffix(":") {
                app.send("1")
            }
        }
        let status = await app.wait()
        let words = await app.standardErrorTail
        #expect(status == 0, "\(words)")
        return shown
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl"), "needs curl"))
    func `the README's lines publish a first policy, and its app obeys it`() async throws {
        try await Programs.onStage { stage in
            _ = try await publish(on: stage)
            let refused = try await report("refused", on: stage)
            #expect(refused.contains { $0.hasPrefix("New PIN of \((try? stage.worker().name) ?? "-")") }, "\(refused)")
            #expect(refused.contains { $0.contains("may not be printed") }, "\(refused)")
            #expect(!refused.contains("printed: Report"))
            let files = try LeakScan.files(below: stage.home(of: "refused").path)
            #expect(files.contains { $0.contains("/protected/files/") })
            #expect(
                files.allSatisfy { FileManager.default.contents(atPath: $0)?.range(of: Data("The plan.".utf8)) == nil },
                "the report is sealed")

            // The control: the same app prints once the rule is gone.
            let administrator = try await stage.administrator()
            let registration = try #require(try await administrator.registrations().first)
            #expect(registration["appIdentifier"]?["bundleId"]?.string == DemoStage.bundleID)
            let policies = try await administrator.policies()
            #expect(policies.count == 1)
            try await administrator.change(
                try #require(policies.first?["id"]?.string), .object(["printBlocked": .bool(false)]))
            let printed = try await report("printed", on: stage)
            #expect(printed.contains("printed: Report"), "\(printed)")
            #expect(!printed.contains { $0.contains("may not be printed") })
        }
    }

    @Test func `every file that the README links is there`() throws {
        let text = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
        let links = text.matches(of: /\]\(([^)#]+)\)/).map { String($0.output.1) }
        #expect(links.count > 15)
        for link in links where !link.hasPrefix("https://") {
            #expect(FileManager.default.fileExists(atPath: Self.root.appending(path: link).path), "\(link)")
        }
        for page in [
            "Sources/Cordon/Cordon.docc/PutCordonIntoAnApp.md", "docs/from-intune.md",
            "Sources/CordonPolicy/CordonPolicy.docc/WhatIsAllowed.md",
            "Sources/CordonSignIn/CordonSignIn.docc/SharedDevice.md",
        ] { #expect(links.contains(page)) }
    }
}
