#if os(Linux)
    import Cordon
    import Foundation
    import Testing

    struct ProcessProtectionTests {
        @Test func `a protected app leaves no core file and cannot be read by other programs of its user`() async throws
        {
            // In a process of its own, which it changes for good.
            await #expect(processExitsWith: .success) {
                let readable =
                    try FileManager.default.attributesOfItem(atPath: "/proc/self/mem")[.ownerAccountID] as? Int
                #expect(readable == Int(geteuid()), "the control: before, the process is its user's")
                #expect(!ProcessProtection.apply().contains(.memoryDumped))
                let limits = try String(contentsOfFile: "/proc/self/limits", encoding: .utf8)
                let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
                #expect(core?.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
            }
        }
    }
#endif
