import CordonDemo
import CordonLeakScan
import CordonPolicy
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonSignIn

/// What a core dump, the swap or another program could show of a running broker (SI-208), seen from outside.
@Suite(.tags(.machineAlone), .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/limits"), "needs /proc"))
struct BrokerProtectionTests {
    /// The two limits, soft and hard, that a process has for core files.
    private func coreLimits(of process: String) throws -> [String] {
        let limits = try String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8)
        let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        return Array(line.split(separator: " ").map(String.init).dropFirst(4).prefix(2))
    }

    @Test func `a running broker writes no core file and keeps its pages in memory, or says that it cannot`()
        async throws
    {
        try await Programs.onStage { stage in
            let device = try await SharedDevice.begin(on: stage)
            let id = String(device.broker.process.id)
            // The control: the limit is the broker's own doing.
            #expect(try coreLimits(of: "self") != ["0", "0"])
            #expect(try coreLimits(of: id) == ["0", "0"])
            let status = try String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmLck:") })
            let locked = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
            let said = try await device.tool.run(["status"]).answer["warnings"]?.array?.compactMap(\.string) ?? []
            #expect((locked > 0) != said.contains("memorySwapped"))
            #expect(!said.contains("memoryDumped"))
        }
    }

    @Test func `a fault ends broker and service at once, and no registers are in their logs`() async throws {
        try await Programs.onStage { stage in
            let device = try await SharedDevice.begin(on: stage)
            for program in [device.broker.process, try await stage.runningService().process] {
                // Unlike SIGQUIT, it is not kept back where a thread of a pool has started them.
                program.signal(SIGSEGV)
                // One that goes on is told to stop, and killed where it stands still.
                #expect(await program.end() == -SIGSEGV)
                let log = await program.standardErrorTail
                #expect(!log.contains("crashed") && !log.contains(" 0x0000"), "\(log)")
            }
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only an administrator reads another program's memory"))
    func `after a sign-out a running broker's memory holds neither the refresh token nor the session's secret`()
        async throws
    {
        try await Programs.onStage { stage in
            let device = try await SharedDevice.begin(on: stage)
            let one = try await device.app("one")
            try await device.signIn("a", in: one)
            let data = stage.folder.appending(path: "device/data")
            let secrets = data.appending(path: "secrets")
            let issuer = try #require(try await stage.runningService().announcement["issuer"]?.string)
            let cache = try TokenCache(
                directory: data.appending(path: "tokens"), secrets: try FileSecretStore(directory: secrets))
            let session = try cache.sessions(owner: CacheOwner(issuer: issuer, clientID: "cordon-cli")).first
            let token = try #require(session?.refreshToken)
            let seed = try #require(
                try FileManager.default.contentsOfDirectory(atPath: secrets.path).first { $0.hasPrefix("broker-seed") })
            let secret = try Data(contentsOf: secrets.appending(path: seed))
            let broker = device.broker.process.id
            // The end of a token is its own; the beginning may be every token's.
            let wanted = try #require(LeakScan(values: [Data(token.utf8).suffix(24), secret]))
            let control = try #require(LeakScan(texts: [try stage.worker("a").name]))
            #expect(try control.leaks(inProcess: broker).texts == 1, "the control: who is signed in is found")
            try await one.ask("sign-out")
            // Until the provider has heard.
            try await until(every: .milliseconds(25)) { try !isWaiting(data) }
            // The broker deletes the file before it drops the token's text. Five seconds later no copy may be left.
            try? await until(every: .milliseconds(50), within: .seconds(5)) {
                try wanted.leaks(inProcess: broker).places.isEmpty
            }
            #expect(try wanted.leaks(inProcess: broker).places == [])
        }
    }

    /// Whether a revocation has still to reach the provider.
    private func isWaiting(_ data: URL) throws -> Bool {
        try LeakScan.files(below: data.appending(path: "tokens").path).contains { $0.hasSuffix(".revocation") }
    }
}
