public import Cordon
internal import Foundation

// On Linux the members of `termios` come with whichever module the compiler met first.
#if canImport(CoreFoundation)
    internal import CoreFoundation
#endif

#if canImport(CDispatch)
    internal import CDispatch
#endif

extension TerminalInterface {
    /// The interface on standard input and output, for programs that read nothing else meanwhile.
    ///
    /// What is typed for a PIN is not shown where the input is a terminal.
    public static func standard(
        signIn: (@Sendable (SignInPrompt) async -> SignInAnswer)? = nil
    ) -> TerminalInterface {
        let usesColor = isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
        return TerminalInterface(
            read: { await line(hidden: $0) }, write: { FileHandle.standardOutput.write(Data(($0 + "\n").utf8)) },
            usesColor: usesColor, signIn: signIn)
    }

    /// Reads on a thread of its own, because a read blocks.
    private static func line(hidden: Bool) async -> String? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var before = termios()
                let hides = hidden && isatty(STDIN_FILENO) == 1 && tcgetattr(STDIN_FILENO, &before) == 0
                if hides {
                    var quiet = before
                    quiet.c_lflag &= ~tcflag_t(ECHO)
                    tcsetattr(STDIN_FILENO, TCSANOW, &quiet)
                }
                let line = readLine()
                if hides { tcsetattr(STDIN_FILENO, TCSANOW, &before) }
                continuation.resume(returning: line)
            }
        }
    }
}
