import Foundation
import Glibc
import Testing

@testable import CordonTerminal

// The members of `termios` come with whichever module the compiler met first.
#if canImport(CoreFoundation)
    import CoreFoundation
#endif

/// A PIN is typed at a terminal that belongs to the person's shell again afterwards.
@Suite(.timeLimit(.minutes(10))) struct HiddenTypingTests {
    /// A terminal of the test's own; the process that asks has the other end.
    private final class Terminal {
        let descriptor: Int32
        let path: String

        init() throws {
            descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY)
            // `unlockpt` and `ptsname` are in no module: these are what they ask the kernel.
            var (isLocked, number) = (CInt(0), CUnsignedInt(0))
            try #require(ioctl(descriptor, 0x4004_5431, &isLocked) == 0 && ioctl(descriptor, 0x8004_5430, &number) == 0)
            path = "/dev/pts/\(number)"
        }

        deinit { close(descriptor) }

        var isShowing: Bool { HiddenTypingTests.isShowing(descriptor) }
    }

    private static func isShowing(_ descriptor: Int32) -> Bool {
        var state = termios()
        return tcgetattr(descriptor, &state) == 0 && state.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Makes a terminal the standard input of this process.
    private static func attach(_ path: String) {
        let end = open(path, O_RDWR | O_NOCTTY)
        dup2(end, STDIN_FILENO)
        close(end)
    }

    private static func waitUntilHidden() {
        while isShowing(STDIN_FILENO) { usleep(1_000) }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal that ends the program at a prompt leaves a terminal that shows what is typed`(
        number: Int32
    ) async throws {
        let terminal = try Terminal()
        #expect(terminal.isShowing)
        let path = terminal.path
        await #expect(processExitsWith: .signal(number)) { [path = path as String, number = number as Int32] in
            HiddenTypingTests.attach(path)
            Task { await TerminalInterface.line(hidden: true) }
            HiddenTypingTests.waitUntilHidden()
            // Again, for one that came before it was listened for.
            while true {
                kill(getpid(), number)
                usleep(10_000)
            }
        }
        #expect(terminal.isShowing)
    }

    @Test func `a line that was typed ends the hiding, and signals are the program's own again`() async throws {
        let terminal = try Terminal()
        let path = terminal.path
        let descriptor = terminal.descriptor
        let typing = Task.detached {
            while HiddenTypingTests.isShowing(descriptor), !Task.isCancelled { await Task.yield() }
            _ = "2580\n".withCString { write(descriptor, $0, 5) }
        }
        await #expect(processExitsWith: .signal(SIGTERM)) { [path = path as String] in
            HiddenTypingTests.attach(path)
            signal(SIGINT, SIG_IGN)
            guard await TerminalInterface.line(hidden: true) == "2580", HiddenTypingTests.isShowing(STDIN_FILENO) else {
                exit(1)
            }
            kill(getpid(), SIGINT)
            kill(getpid(), SIGTERM)
            while true { pause() }
        }
        typing.cancel()
        await typing.value
        #expect(terminal.isShowing)
    }
}
