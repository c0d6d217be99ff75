public import Cordon
internal import CordonBase
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
        let wantsColor = (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
        let usesColor = isatty(STDOUT_FILENO) == 1 && wantsColor
        return TerminalInterface(
            read: { await line(hidden: $0) },
            // What cannot be shown is not shown; the app goes on.
            write: { try? FileHandle.standardOutput.write(contentsOf: Data(($0 + "\n").utf8)) },
            usesColor: usesColor, signIn: signIn)
    }

    /// Keeps standard input, output and error from harming the program. Call it before anything else.
    ///
    /// If a terminal or pipe is closed, the program does not end, because it may be in the middle of a wipe or about to hear of one: writing
    /// fails instead (`SIGPIPE` is ignored). A stream that was closed from the start becomes `/dev/null`, so that no file takes its number;
    /// writing to standard output then fails, too.
    public static func prepareStandardStreams() {
        StandardStreams.fillGaps()
        signal(SIGPIPE, SIG_IGN)
    }

    /// Reads on a thread of its own, because a read blocks.
    static func line(hidden: Bool) async -> String? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let hiding = hidden ? HiddenTyping() : nil
                let line = readLine()
                hiding?.end()
                continuation.resume(returning: line)
            }
        }
    }
}
