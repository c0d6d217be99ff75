import CordonTestSupport
import Foundation

#if canImport(Glibc)
    import Testing

    /// Work that is handed to a queue where there is no memory for it (R6).
    struct CarryingTests {
        @Test(.enabled(if: AllocationFaults.compiler != nil, "needs clang"))
        func `work that is handed over without memory for it runs once there is some, under its identity`() throws {
            let compiler = try #require(AllocationFaults.compiler)
            let runtime = URL(filePath: compiler).resolvingSymlinksInPath().deletingLastPathComponent()
                .appending(path: "../lib/swift/linux").standardizedFileURL.path
            let said = try AllocationFaults.run(
                ["carrying.c"], of: "CDispatchInterposition",
                linking: ["Carrying.c", "Lookup.c", "Queues.c", "WorkItems.c"],
                [
                    "-fblocks", "-rdynamic", "-L", runtime, "-ldispatch", "-lBlocksRuntime", "-Wl,-rpath," + runtime,
                    "-Wl,--wrap=malloc,--wrap=_Block_copy",
                ])
            #expect(said.hasPrefix("failed allocations: "))
        }
    }
#endif
