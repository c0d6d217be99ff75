public import Logging

/// Whether a value may stand in a log; give it with the value:
/// `"\(name, attributes: [LogSensitivity.sensitive])"`.
public enum LogSensitivity: Int64, Sendable, Logger.MetadataValueAttributes.Attribute {
    /// May be read by every reader of the log.
    case open = 0
    /// Is left out of Cordon's log at every level.
    case sensitive = 1
}
