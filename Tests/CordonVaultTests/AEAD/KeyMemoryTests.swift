import CordonTestSupport

#if canImport(Glibc)
    import Testing

    /// Expanded keys and guarded pages where there is no memory (R6).
    struct KeyMemoryTests {
        @Test(.enabled(if: AllocationFaults.compiler != nil, "needs clang"))
        func `without memory there is no key, nothing is lost, and later there is one, whichever allocation fails`()
            throws
        {
            let said = try AllocationFaults.run(
                ["failing.c", "guarded-keys.c"], of: "CordonAEADShim", ["-lpthread"])
            #expect(said == "failed allocations: all")
        }
    }
#endif
