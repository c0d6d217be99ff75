import CordonTestSupport

#if canImport(Glibc)
    import Testing

    /// Packing and unpacking where there is no memory (R6).
    struct PackingMemoryTests {
        @Test(.enabled(if: AllocationFaults.compiler != nil, "needs clang"))
        func `want of memory is never told as damage, and nothing is lost, whichever allocation fails`() throws {
            let said = try AllocationFaults.run(
                ["failing.c", "packing.c"], of: "CordonZlibShim", linking: ["gzip.c"], ["-lz"])
            #expect(said.hasPrefix("failed allocations: "))
        }
    }
#endif
