/// An error as a person at a terminal reads it: what went wrong, what to do, and the exit status.
struct CommandFailure: Error, Equatable, Encodable {
    /// The process exit status.
    let status: ExitStatus
    /// What was wrong and where, one line.
    let message: String
    /// What to do about it, one line.
    let hint: String?

    /// The members of its JSON: `status`, `message` and, where there is one, `hint`.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(status.rawValue, forKey: .status)
        try container.encode(message, forKey: .message)
        try container.encodeIfPresent(hint, forKey: .hint)
    }

    private enum Key: CodingKey { case status, message, hint }

    init(_ status: ExitStatus, _ message: String, hint: String? = nil) {
        self.status = status
        self.message = message
        self.hint = hint
    }
}
