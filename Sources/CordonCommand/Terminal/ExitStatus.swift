/// How a command ends, the same numbers for every command (TL-GN-02).
enum ExitStatus: Int32, Sendable {
    /// The work was done, or there was nothing to do.
    case done = 0
    /// A check found something that is not in the wanted state.
    case notInWantedState = 1
    /// The command line itself was wrong.
    case usage = 2
    /// An input was missing, unreadable or not of the expected format.
    case badInput = 3
    /// Refused for safety; the reason is printed.
    case refused = 4
    /// An output could not be written, or an address not bound.
    case writeFailed = 5
}
