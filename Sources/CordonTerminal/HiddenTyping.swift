internal import Foundation

// On Linux the members of `termios` come with whichever module the compiler met first.
#if canImport(CoreFoundation)
    internal import CoreFoundation
#endif

#if canImport(CDispatch)
    internal import CDispatch
#endif

/// Hides what is typed at the terminal, until ``end()``.
///
/// If SIGHUP, SIGINT, SIGQUIT or SIGTERM ends the process meanwhile, it first makes the terminal show typing again, because the shell would go
/// on hiding it. It leaves alone signals that the program handles or ignores, and Ctrl-Z.
public struct HiddenTyping: Sendable {
    private static let signals = [SIGHUP, SIGINT, SIGQUIT, SIGTERM]

    /// The terminal as it was. A constant, since a handler of signals may not do what Swift does to look at a variable. What it points to is
    /// written before a handler is installed that reads it, and by one prompt at a time: a second one finds the echo off and begins nothing.
    private nonisolated(unsafe) static let before = UnsafeMutablePointer<termios>.allocate(capacity: 1)

    /// Handles a signal whose default is to end the process; calls only what is async-signal-safe.
    private static let restore: @Sendable @convention(c) (CInt) -> Void = { number in
        // The terminal of another job is left alone: a process in the background would be stopped instead of ended.
        let inFront = tcgetpgrp(STDIN_FILENO)
        if inFront == -1 || inFront == getpgrp() { tcsetattr(STDIN_FILENO, TCSANOW, HiddenTyping.before) }
        signal(number, SIG_DFL)
        raise(number)
    }

    /// Begins; nil unless standard input is a terminal that shows what is typed.
    public init?() {
        var state = termios()
        guard isatty(STDIN_FILENO) == 1, tcgetattr(STDIN_FILENO, &state) == 0, state.c_lflag & tcflag_t(ECHO) != 0
        else { return nil }
        Self.before.initialize(to: state)
        for number in Self.signals where Self.handler(of: number) == 0 { signal(number, Self.restore) }
        state.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &state)
    }

    /// Shows again what is typed.
    public func end() {
        tcsetattr(STDIN_FILENO, TCSANOW, Self.before)
        let restore = unsafeBitCast(Self.restore, to: UInt.self)
        for number in Self.signals where Self.handler(of: number) == restore { signal(number, SIG_DFL) }
    }

    /// The address of what handles a signal, 0 for the default. It comes first in the structure, by another name on each platform.
    private static func handler(of number: CInt) -> UInt? {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return nil }
        return withUnsafeBytes(of: action) { $0.load(as: UInt.self) }
    }
}
