#if canImport(Glibc)
    import Foundation
    import Glibc
    import Testing

    @testable import CordonVault

    struct ForkedChildTests {
        @Test func `a file that was closed has no writer any more, although a child holds what was open`()
            async throws
        {
            typealias Fork = @convention(c) () -> pid_t
            let found = try #require(dlsym(UnsafeMutableRawPointer(bitPattern: 0), "_Fork"))
            let forkAlone = unsafeBitCast(found, to: Fork.self)
            let workshop = try await Workshop()
            let path = workshop.path("shared")
            let file = try await workshop.vault.create(path, for: workshop.ada)
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            let (reading, writing) = (ends[0], ends[1])
            let child = forkAlone()
            if child == 0 {
                close(writing)
                var byte: UInt8 = 0
                _ = read(reading, &byte, 1)
                _exit(0)
            }
            try #require(child > 0)
            try file.close()
            await #expect(throws: Never.self) { try await workshop.vault.open(path).close() }
            ends.forEach { close($0) }
            var status: Int32 = 0
            waitpid(child, &status, 0)
        }
    }
#endif
