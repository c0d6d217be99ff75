import CordonIdentity
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// Whether the program of this test can be made for this machine.
private let canForge = {
    #if arch(x86_64)
        OtherUser.hasNamespaces && Program.find("clang") != nil
    #else
        false
    #endif
}()

/// A process that has the kernel name another file as its program, as any user may in a user namespace (`PR_SET_MM_MAP`).
@Suite(
    .serialized, .timeLimit(.minutes(10)), .tags(.machineAlone),
    .enabled(if: canForge, "needs root, setpriv, python3, user namespaces, clang and x86_64")
) struct ForgedProgramTests {
    /// Goes on from a copy of itself in memory without a file, gives up every page of its own file, names the file of its first argument as its
    /// program, connects to the socket of its second, greets, and writes the link to its program and what it was told.
    private static let source = #"""
        typedef unsigned long word;
        struct names {
            unsigned long long code, code_end, data, data_end, heap, heap_end, stack, arguments, arguments_end, environment,
                environment_end, auxiliary;
            unsigned auxiliary_size, program;
        };
        struct work {
            struct names names;
            word start;
            char link[16], hello[64];
            struct { unsigned short family; char path[108]; } address;
        };
        extern char __executable_start[];

        static inline __attribute__((always_inline)) long ask(long number, long a, long b, long c, long d, long e, long f) {
            long result;
            register long fourth __asm__("r10") = d;
            register long fifth __asm__("r8") = e;
            register long sixth __asm__("r9") = f;
            __asm__ volatile("syscall" : "=a"(result)
                             : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                             : "rcx", "r11", "memory");
            return result;
        }

        __attribute__((noinline, used)) void forge(struct work *work) {
            char said[4096];
            ask(11, work->start - 0x100000, 0x200000, 0, 0, 0, 0);                      /* munmap */
            ask(157, 35, 14, (long)&work->names, sizeof work->names, 0, 0);             /* PR_SET_MM, PR_SET_MM_MAP */
            long count = ask(89, (long)work->link, (long)said, sizeof said - 1, 0, 0, 0); /* readlink */
            said[count] = '\n';
            ask(1, 1, (long)said, count + 1, 0, 0, 0);
            long socket = ask(41, 1, 1, 0, 0, 0, 0);
            ask(42, socket, (long)&work->address, sizeof work->address, 0, 0, 0);
            ask(1, socket, (long)work->hello, sizeof work->hello, 0, 0, 0);
            while ((count = ask(0, socket, (long)said, sizeof said, 0, 0, 0)) > 0) {
                ask(1, 1, (long)said, count, 0, 0, 0);
                if (said[count - 1] == '}') break;
            }
            ask(231, 0, 0, 0, 0, 0, 0);
        }

        static void copy(char *to, const char *from, word count) {
            for (word place = 0; place < count; place++) to[place] = from[place];
        }

        __attribute__((used)) void begin(word *stack) {
            const char **arguments = (const char **)(stack + 1);
            char *memory = (char *)ask(9, 0, 65536, 7, 0x22, -1, 0);                    /* mmap */
            struct work *work = (struct work *)(memory + 32768);
            copy(memory, (const char *)forge, 1400);
            copy(work->link, "/proc/self/exe", 15);
            copy(work->hello, "\0\0\0\74{\"id\":1,\"verb\":\"hello\",\"versions\":[2],\"clientID\":\"notes\"}   ", 64);
            work->address.family = 1;
            for (word place = 0; arguments[2][place]; place++) work->address.path[place] = arguments[2][place];
            work->start = (word)__executable_start;
            struct names *names = &work->names;
            names->code = names->data = (word)memory;
            names->code_end = names->data_end = (word)memory + 4096;
            names->heap = names->heap_end = (word)memory + 70000;
            names->stack = names->arguments = names->arguments_end = names->environment = names->environment_end = (word)stack;
            names->program = ask(2, (long)arguments[1], 0, 0, 0, 0, 0);                  /* open */
            ((void (*)(struct work *))memory)(work);
        }

        __attribute__((naked, used)) void _start(void) { __asm__("mov %rsp, %rdi; and $-16, %rsp; call begin"); }
        """#

    @Test func `a program that gives itself out as an allowed one in a user namespace is refused`() async throws {
        let place = try AllowedCopy()
        defer { place.remove() }
        let app = try place.install("/usr/bin/true", as: "notes")
        let source = try place.write(Self.source, as: "forged.c")
        let forged = place.folder.appending(path: "forged").path
        let made = try await Program.run(
            try #require(Program.find("clang")),
            [
                "-O1", "-fno-stack-protector", "-fno-builtin", "-fno-vectorize", "-fno-slp-vectorize", "-fno-pic",
                "-nostdlib",
                "-static", "-o", forged, source,
            ])
        try #require(made.status == 0, "\(made.everything)")
        let digest = try await OtherUser.run(["sha256sum", app]).prefix(64)
        let stand = try BrokerStand {
            $0.apps = [AllowedApp(name: "notes", path: app, sha256: String(digest), clientIDs: ["notes"])]
        }
        try await ServedBroker.serve(stand) { socket, _ in
            let plain = try await OtherUser.run([forged, app, socket])
            #expect(plain.contains("forged\n") && plain.contains("brokerDenied"), "the control: \(plain)")
            let heard = try await OtherUser.run(["unshare", "-Ur", forged, app, socket])
            #expect(heard.hasPrefix(app + "\n"), "the kernel names the app: \(heard)")
            #expect(heard.contains("brokerDenied") && !heard.contains(#""hello""#), "\(heard)")
        }
    }
}
