import ArgumentParser
import CordonBroker
import CordonSignIn
import CordonTestSupport
import Foundation
import Testing

@testable import CordonCommand

/// What `cordon broker run` makes of its options, and how `cordon device` ends.
@Suite struct BrokerOptionsTests {
    private func plan(_ arguments: [String]) throws -> BrokerConfiguration {
        try BrokerOptions.parse(["--socket", "/tmp/b.sock"] + arguments).plan().configuration
    }

    @Test func `for development the mode is on and the roles are those of the embedded provider`() throws {
        let configuration = try plan(["--development", "--issuer", "http://127.0.0.1:8080/id"])
        #expect(configuration.isDevelopment)
        #expect(configuration.profileSaysShared && configuration.managedConfigurationSaysShared)
        #expect(configuration.joinRoles.contains("owner"))
        #expect(configuration.signIn.clientID == "cordon-cli")
    }

    @Test func `what a signed policy says is not said otherwise beside it`() throws {
        let options = [
            ["--development"], ["--service", "https://mam.example.org"], ["--client-id", "x"], ["--max-idle", "99999"],
            ["--max-session", "99999"], ["--clean-up-time", "1"], ["--report-interval", "99999"],
        ]
        let signed = ["--socket", "/tmp/b.sock", "--policy", "/etc/cordon/device.policy", "--trust", "x"]
        #expect(throws: Never.self) { try BrokerOptions.parse(signed + ["--device-name", "ward 3", "--follow-seat"]) }
        for option in options {
            #expect(throws: (any Error).self, "\(option)") { try BrokerOptions.parse(signed + option) }
        }
    }

    @Test(arguments: ["-AN4DlJzWXMiZ3cp1Yd8nZl5pXk0gqV2m1b7hYwQeRs", "--hN4DlJzWXMiZ3cp1Yd8nZl5pXk0gqV2m1b7hYwQeRs"])
    func `a thumbprint that begins with a hyphen is taken for what it is`(thumbprint: String) throws {
        let arguments = ["broker", "policy", "verify", "device.policy", "--trust", "first", "--trust", thumbprint]
        let command = try CordonTool.parseAsRoot(CordonTool.joiningThumbprints(arguments))
        #expect((command as? BrokerPolicyVerifyCommand)?.trust == ["first", thumbprint])
        // The second name is the former one.
        for option in ["--root-key", "--pin"] {
            let pinned = ["audit", "verify", "audit.jsonl", option, thumbprint, "--json"]
            let audit = try CordonTool.parseAsRoot(CordonTool.joiningThumbprints(pinned)) as? AuditVerifyCommand
            #expect(audit?.pin == thumbprint && audit?.json == true)
        }
    }

    @Test func `a time that no clock can add up is refused before it ends a broker in the middle of a sign-out`() {
        for option in ["--max-idle", "--max-session", "--clean-up-time", "--report-interval"] {
            #expect(throws: Never.self) { try plan(["--issuer", "https://id.contoso.example", option, "315360000"]) }
            for time in ["0", "315360001", "9223372036854775807"] {
                #expect(throws: (any Error).self, "\(option) \(time)") {
                    try plan(["--issuer", "https://id.contoso.example", option, time])
                }
            }
        }
    }

    @Test func `without development nothing is shared that was not turned on`() throws {
        let configuration = try plan(["--issuer", "https://id.contoso.example", "--max-idle", "60"])
        #expect(!configuration.isDevelopment)
        #expect(!configuration.profileSaysShared && !configuration.managedConfigurationSaysShared)
        #expect(!configuration.joinRoles.contains("owner"))
        #expect(configuration.apps.isEmpty)
        #expect(configuration.maximumIdle == .seconds(60))
    }

    @Test func `a file and a profile are read, and mistakes in them have exit status 3`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let file = folder.appending(path: "broker.json")
        try Data(#"{"issuer": "https://id.contoso.example", "sharedDeviceMode": true}"#.utf8).write(to: file)
        let configuration = try plan(["--config", file.path])
        #expect(configuration.managedConfigurationSaysShared && !configuration.profileSaysShared)
        try Data(#"{"issuer": "https://id.contoso.example", "sharedDeviceMode": 1}"#.utf8).write(to: file)
        #expect(throws: CommandFailure.self) { try plan(["--config", file.path]) }
        do {
            _ = try plan(["--config", folder.appending(path: "missing").path])
            Issue.record("a missing file was read")
        } catch let failure as CommandFailure {
            #expect(failure.status == .badInput)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a policy is read from a regular file that others cannot write to, and from nothing else`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        func refusal(_ path: String) throws -> String? {
            let failure = #expect(throws: CommandFailure.self) {
                try plan(["--policy", path, "--trust", "x"])
            }
            #expect(failure?.status == .badInput)
            return failure?.message
        }
        let file = folder.appending(path: "device.policy").path
        try Data("no policy".utf8).write(to: URL(filePath: file))
        #expect(chmod(file, 0o644) == 0)
        #expect(try refusal(file)?.contains("not acceptable") == true, "the control: it was read")
        #expect(chmod(file, 0o664) == 0)
        #expect(try refusal(file)?.contains("others can change") == true)
        // A pipe would keep the broker waiting for a writer.
        let pipe = folder.appending(path: "pipe").path
        #expect(mkfifo(pipe, 0o644) == 0)
        #expect(try refusal(pipe)?.contains("cannot be read") == true)
        #expect(try refusal(folder.path)?.contains("cannot be read") == true)
    }

    @Test func `neither file nor issuer is a wrong command line`() {
        #expect(throws: (any Error).self) { _ = try BrokerOptions.parse(["--socket", "/tmp/b.sock"]) }
        #expect(throws: (any Error).self) {
            _ = try BrokerOptions.parse(["--socket", "/tmp/b.sock", "--issuer", "x", "--max-idle", "0"])
        }
    }

    @Test(arguments: [
        (SignInError.Code.brokerRefused, CordonCommand.ExitStatus.refused), (.accountMismatch, .refused),
        (.deviceNotShared, .refused),
        (.brokerUnavailable, .notInWantedState), (.network, .notInWantedState), (.configuration, .badInput),
        (.storage, .writeFailed),
    ])
    func `each kind of refusal has its exit status`(code: SignInError.Code, status: CordonCommand.ExitStatus) {
        #expect(CommandFailure(SignInError(code, .brokerDenied, "x")).status == status)
    }
}
