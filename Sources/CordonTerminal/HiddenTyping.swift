internal import Dispatch
internal import Foundation

// On Linux the members of `termios` come with whichever module the compiler met first.
#if canImport(CoreFoundation)
    internal import CoreFoundation
#endif

#if canImport(CDispatch)
    internal import CDispatch
#endif

/// Keeps what is typed at the terminal from being shown, until ``end()`` or until a signal ends the process: the shell would go on
/// without showing anything.
struct HiddenTyping {
    private static let signals = [SIGINT, SIGTERM]

    private let before: termios
    private let watched: [(source: any DispatchSourceSignal, disposition: sigaction)]

    /// Begins, where standard input is a terminal.
    init?() {
        var state = termios()
        guard isatty(STDIN_FILENO) == 1, tcgetattr(STDIN_FILENO, &state) == 0 else { return nil }
        before = state
        watched = Self.signals.compactMap { [before] in Self.watch($0, before) }
        state.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &state)
    }

    /// Shows again what is typed.
    func end() {
        var before = before
        tcsetattr(STDIN_FILENO, TCSANOW, &before)
        for (source, disposition) in watched {
            source.cancel()
            var disposition = disposition
            sigaction(CInt(source.handle), &disposition, nil)
        }
    }

    /// Has a signal show again what is typed before it ends the process; nil where the program handles or ignores it.
    private static func watch(_ number: CInt, _ before: termios) -> (any DispatchSourceSignal, sigaction)? {
        var disposition = sigaction()
        guard sigaction(number, nil, &disposition) == 0 else { return nil }
        guard signal(number, SIG_IGN) == nil else {
            sigaction(number, &disposition, nil)
            return nil
        }
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler {
            var before = before
            tcsetattr(STDIN_FILENO, TCSANOW, &before)
            signal(number, SIG_DFL)
            kill(getpid(), number)
        }
        source.resume()
        return (source, disposition)
    }
}
