/// An error as a person at a terminal reads it: what went wrong, what to do, and the exit status.
struct CommandFailure: Error, Equatable {
    /// The process exit status.
    let status: ExitStatus
    /// What was wrong and where, one line.
    let message: String
    /// What to do about it, one line.
    let hint: String?

    init(_ status: ExitStatus, _ message: String, hint: String? = nil) {
        self.status = status
        self.message = message
        self.hint = hint
    }
}
