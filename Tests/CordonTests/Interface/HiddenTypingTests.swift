import Dispatch
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

    /// Types a line as soon as the terminal does not show what is typed. A thread does it: those of tasks wait for the processes of tests.
    private static func type(_ line: String, at terminal: Int32) -> Thread {
        let typing = Thread {
            while isShowing(terminal), !Thread.current.isCancelled { usleep(1_000) }
            let bytes = Array((line + "\n").utf8)
            _ = write(terminal, bytes, bytes.count)
        }
        typing.start()
        return typing
    }

    /// Returns once nothing is typed any more.
    private static func end(_ typing: Thread) {
        typing.cancel()
        while !typing.isFinished { usleep(1_000) }
    }

    /// Sends this process a signal as soon as its terminal does not show what is typed.
    private static func sendWhenHidden(_ number: Int32) {
        // Who started the tests may ignore it.
        signal(number, SIG_DFL)
        Thread.detachNewThread {
            while isShowing(STDIN_FILENO) { usleep(1_000) }
            kill(getpid(), number)
        }
    }

    @Test(arguments: [SIGHUP, SIGINT, SIGQUIT, SIGTERM])
    func `a signal that ends the program at a prompt leaves a terminal that shows what is typed`(
        number: Int32
    ) async throws {
        let terminal = try Terminal()
        #expect(terminal.isShowing)
        let path = terminal.path
        await #expect(processExitsWith: .signal(number)) { [path = path as String, number = number as Int32] in
            HiddenTypingTests.attach(path)
            HiddenTypingTests.sendWhenHidden(number)
            _ = await TerminalInterface.line(hidden: true)
        }
        #expect(terminal.isShowing)
    }

    @Test func `a line that was typed ends the hiding, and a signal ends the program at the next prompt too`()
        async throws
    {
        let terminal = try Terminal()
        let path = terminal.path
        let typing = Self.type("2580", at: terminal.descriptor)
        await #expect(processExitsWith: .signal(SIGTERM)) { [path = path as String] in
            HiddenTypingTests.attach(path)
            signal(SIGINT, SIG_IGN)
            guard await TerminalInterface.line(hidden: true) == "2580", HiddenTypingTests.isShowing(STDIN_FILENO) else {
                exit(1)
            }
            kill(getpid(), SIGINT)
            HiddenTypingTests.sendWhenHidden(SIGTERM)
            _ = await TerminalInterface.line(hidden: true)
        }
        Self.end(typing)
        #expect(terminal.isShowing)
    }

    @Test func `a program that listens for a signal after a prompt hears of it`() async throws {
        let terminal = try Terminal()
        let path = terminal.path
        let typing = Self.type("2580", at: terminal.descriptor)
        await #expect(processExitsWith: .exitCode(3)) { [path = path as String] in
            HiddenTypingTests.attach(path)
            signal(SIGTERM, SIG_DFL)
            guard await TerminalInterface.line(hidden: true) == "2580" else { exit(1) }
            signal(SIGTERM, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: SIGTERM)
            source.setEventHandler { exit(3) }
            source.setRegistrationHandler { kill(getpid(), SIGTERM) }
            source.resume()
            while true { pause() }
        }
        Self.end(typing)
    }

    @Test func `a signal that the program listens for since the prompt began stays its own`() async throws {
        let terminal = try Terminal()
        let path = terminal.path
        await #expect(processExitsWith: .exitCode(3)) { [path = path as String] in
            HiddenTypingTests.attach(path)
            signal(SIGTERM, SIG_DFL)
            let hiding = HiddenTyping()
            signal(SIGTERM) { _ in _exit(3) }
            hiding?.end()
            kill(getpid(), SIGTERM)
            while true { pause() }
        }
        #expect(terminal.isShowing)
    }
}
