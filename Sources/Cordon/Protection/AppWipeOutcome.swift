/// How the app's own part of a wipe ended (SDK-SW-01…03).
public enum AppWipeOutcome: Sendable, Equatable {
    /// The app removed the account and everything it kept of it.
    case removed
    /// The app keeps nothing outside Cordon's files.
    case leftToCordon
    /// Something is left. The reason goes into the receipt, so it must name no file or person.
    case failed(String)
}
