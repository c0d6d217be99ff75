import CordonTestSupport

#if os(Linux)
    import Foundation
    import Testing

    /// A program says that work is followed only where it is this library that its work passes through.
    struct InFrontTests {
        @Test func `a program with nothing else in front is followed`() throws {
            #expect(try LinkedProgram(defining: "").isInFront)
        }

        @Test(arguments: [
            "void dispatch_async(void *queue, void *block) {}",
            "void dispatch_after(uint64_t when, void *queue, void *block) {}",
            "void *dispatch_block_create(unsigned long flags, void *block) { return block; }",
        ])
        func `a program in which something else is in front of libdispatch is not`(definition: String) throws {
            #expect(try !LinkedProgram(defining: definition).isInFront)
        }
    }

    /// A program made of the entry points alone, with definitions of its own beside them.
    private struct LinkedProgram {
        let isInFront: Bool

        init(defining definitions: String) throws {
            let folder = try TemporaryFolder.make()
            defer { TemporaryFolder.remove(folder) }
            let source = folder.appending(path: "main.c")
            let entries = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../Sources/CDispatchInterposition").standardizedFileURL
            try """
            #include "CDispatchInterposition.h"
            #include <stdio.h>
            void *cordon_identity_value(void) { return 0; }
            uintptr_t cordon_identity_now(void *value) { return 0; }
            void cordon_identity_run_later(void *value, uintptr_t identity, void (*work)(void *), void *context) {}
            void cordon_identity_run(uintptr_t identity, void (*work)(void *), void *context) {}
            \(definitions)
            int main(void) { puts(cordon_dispatch_is_in_front() ? "yes" : "no"); return 0; }
            """.write(to: source, atomically: true, encoding: .utf8)
            let program = folder.appending(path: "program").path
            let clang = try #require(Program.find("clang"))
            let runtime = URL(filePath: clang).resolvingSymlinksInPath().deletingLastPathComponent()
                .appending(path: "../lib/swift/linux").standardizedFileURL.path
            let parts = ["Carrying", "Lookup", "Queues", "WorkItems"].map { entries.appending(path: $0 + ".c").path }
            try Program.succeed(
                clang,
                [
                    "-fblocks", "-rdynamic", "-I", entries.appending(path: "include").path, "-I", entries.path,
                    source.path,
                ]
                    + parts + ["-o", program, "-L", runtime, "-ldispatch", "-lBlocksRuntime", "-Wl,-rpath," + runtime])
            let answer = try Program.succeed(program, []).text.trimmingCharacters(in: .whitespacesAndNewlines)
            isInFront = answer == "yes"
        }
    }
#endif
