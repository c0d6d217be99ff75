import CordonDemo
import CordonPolicy
import Foundation
import Testing

/// What a core dump, the swap or another program could show of a running broker (SI-208), seen from outside.
@Suite(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/limits"), "needs /proc"))
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
}
