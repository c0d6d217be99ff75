import CordonTestSupport

#if os(Linux)
    import Foundation
    import Testing

    /// A program says that work is followed only where it is this library that its work passes through.
    struct InFrontTests {
        @Test func `a program with nothing else in front is followed`() throws {
            #expect(try LinkedProgram(defining: "").saysYes)
        }

        @Test(arguments: [
            "void dispatch_async(void *queue, void *block) {}",
            "void dispatch_after(uint64_t when, void *queue, void *block) {}",
            "void *dispatch_block_create(unsigned long flags, void *block) { return block; }",
        ])
        func `a program in which something else is in front of libdispatch is not`(definition: String) throws {
            #expect(try !LinkedProgram(defining: definition).saysYes)
        }

        /// The main queue may run it inside a scope, where a run loop is nested.
        @Test func `the handler of an event source that is set outside every scope is bound to none`() throws {
            let program = try LinkedProgram(
                defining: """
                    struct source_type;
                    extern struct source_type _dispatch_source_type_data_add;
                    void *dispatch_get_global_queue(long priority, unsigned long flags);
                    void *dispatch_source_create(
                        struct source_type *type, uintptr_t handle, unsigned long mask, void *queue);
                    void dispatch_source_set_event_handler(void *source, void (^handler)(void));
                    void dispatch_activate(void *object);
                    void dispatch_source_merge_data(void *source, unsigned long value);
                    void *dispatch_semaphore_create(long value);
                    long dispatch_semaphore_signal(void *semaphore);
                    long dispatch_semaphore_wait(void *semaphore, uint64_t timeout);
                    static int is_bound_to_none(void) {
                        void *done = dispatch_semaphore_create(0);
                        __block uintptr_t seen = unbound;
                        void *source = dispatch_source_create(
                            &_dispatch_source_type_data_add, 0, 0, dispatch_get_global_queue(0, 0));
                        dispatch_source_set_event_handler(source, ^{
                            seen = bound;
                            dispatch_semaphore_signal(done);
                        });
                        dispatch_activate(source);
                        dispatch_source_merge_data(source, 1);
                        dispatch_semaphore_wait(done, UINT64_MAX);
                        return seen == 0;
                    }
                    """, asking: "is_bound_to_none()")
            #expect(program.saysYes)
        }
    }

    /// A program made of the entry points alone, with definitions of its own beside them.
    private struct LinkedProgram {
        let saysYes: Bool

        init(defining definitions: String, asking question: String = "cordon_dispatch_is_in_front()") throws {
            let folder = try TemporaryFolder.make()
            defer { TemporaryFolder.remove(folder) }
            let source = folder.appending(path: "main.c")
            let entries = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../Sources/CDispatchInterposition").standardizedFileURL
            try """
            #include "CDispatchInterposition.h"
            #include <stdio.h>
            enum { unbound = 1 };
            static _Thread_local uintptr_t bound = unbound;
            void *cordon_identity_value(void) { return 0; }
            uintptr_t cordon_identity_now(void *value) { return 0; }
            void cordon_identity_run_later(void *value, uintptr_t identity, void (*work)(void *), void *context) {}
            void cordon_identity_run(uintptr_t identity, void (*work)(void *), void *context) {
                bound = identity;
                work(context);
                bound = unbound;
            }
            \(definitions)
            int main(void) { puts(\(question) ? "yes" : "no"); return 0; }
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
            saysYes = answer == "yes"
        }
    }
#endif
