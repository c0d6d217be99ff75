/// How far a long protection or decryption has come.
public struct ProtectionProgress: Sendable, Equatable {
    /// Files done, those included that could not be brought in line.
    public var files = 0
    /// Files in all.
    public var totalFiles = 0
    /// Bytes done: of the file at hand its plaintext so far, of those before it their length at the beginning.
    public var bytes: Int64 = 0
    /// Bytes of all files together, as they were at the beginning.
    public var totalBytes: Int64 = 0
}
