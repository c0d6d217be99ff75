/// Why the demo could not go on: the stage broke, as opposed to an expectation that did not hold.
public struct DemoError: Error, Sendable, Equatable {
    /// What went wrong.
    public let reason: String
    /// What to do about it.
    public let hint: String?

    /// Makes an error.
    public init(_ reason: String, hint: String? = nil) {
        self.reason = reason
        self.hint = hint
    }

    /// Whether both tell of the same.
    public static func == (left: Self, right: Self) -> Bool { left.reason == right.reason }
}
