/// What an app says of its own part of a wipe (SDK-SW-01…03).
public enum AppWipeOutcome: Sendable, Equatable {
    /// The app removed the account and everything it kept of it.
    case removed
    /// The app kept nothing outside Cordon's files.
    case leftToCordon
    /// Something is left; the reason goes into the receipt and names no file or person.
    case failed(String)
}
