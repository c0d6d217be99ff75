public import Logging

/// Whether a value may appear in a log; give it with the value:
/// `"\(name, attributes: [LogSensitivity.sensitive])"`.
public enum LogSensitivity: Int64, Sendable, Logger.MetadataValueAttributes.Attribute {
    /// Every reader of the log may see it.
    case open = 0
    /// Cordon's log leaves it out at every level.
    case sensitive = 1
}
