import CordonDemo
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

/// The service killed with SIGKILL between a release and what it releases.
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct ApprovalKillTests {
    private static let role: JSONValue = [
        "displayName": "Second", "permissions": ["read", "approve"], "members": ["user:somebody"],
    ]

    /// Waits until a change has a state.
    private func wait(for state: String, of change: String, _ administrator: Administrator) async throws {
        try await until(every: .milliseconds(25)) {
            try await administrator.waitingChange(change)["state"]?.string == state
        }
    }

    @Test func `a release outlives SIGKILL, and the same call passes once afterwards`() async throws {
        try await Programs.onStage { stage in
            let port = try #require(try await stage.runningService().address.port)
            let first = try await stage.administrator()
            let refused = await #expect(throws: ProgramError.self) { try await first.saveRole("second", Self.role) }
            let words = refused?.reason ?? ""
            let change = try #require(
                words.firstMatch(of: /waitingChange: ([A-Za-z0-9_-]+)/).map { String($0.output.1) })
            // Approved while the service is down: it takes that up at its start.
            await stage.killService()
            let approving = try ChildProcess(
                Programs.cordon,
                ["serve", "approve", "--development", "--data-directory", stage.serviceFolder.path, change])
            for await _ in approving.lines {}
            #expect(await approving.wait() == 0)
            _ = try await stage.runningService(port: port)
            try await wait(for: "released", of: change, try await stage.administratorAgain())
            // Released and not made: the process dies between the two.
            await stage.killService()
            _ = try await stage.runningService(port: port)
            let administrator = try await stage.administratorAgain()
            #expect(try await administrator.waitingChange(change)["state"] == "released")
            try await administrator.saveRole("second", Self.role)
            #expect(try await administrator.waitingChange(change)["state"] == "used")
            // The release is spent: more people in the role wait anew.
            var more = Self.role.object ?? [:]
            more["members"] = ["user:somebody", "user:mallory"]
            let again = await #expect(throws: ProgramError.self) {
                try await administrator.saveRole("second", .object(more))
            }
            #expect(again?.reason.contains("waitingChange") == true && again?.reason.contains(change) == false)
            var verifier = AuditLogVerifier(pin: nil, earlier: [])
            for line in String(decoding: try await administrator.auditLog(), as: UTF8.self).split(separator: "\n") {
                verifier.read(String(line))
            }
            #expect(verifier.report().isSound)
        }
    }
}
