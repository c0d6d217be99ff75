/// What a wipe has just done; told to its observer in order, so that a test can end the process at each.
public struct WipeStep: Sendable, Equatable {
    /// The kinds of step, in the order of a wipe.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// Nothing has been touched yet.
        case begun
        /// The journal says that the wipe was asked for; what was open has ended, and the key is gone from memory.
        case asked
        /// The account's secret in the key store is destroyed: nothing of the account can be opened any more, whatever happens
        /// next, and no copy of the key's record brings it back.
        case secretDestroyed
        /// The account key's record was overwritten and synced.
        case keyDestroyed
        /// The journal is on disk.
        case journalWritten
        /// The overwritten key record was unlinked.
        case keyRecordRemoved
        /// One owned file was removed.
        case fileRemoved
        /// All owned files were removed.
        case filesRemoved
        /// The account's caches were removed.
        case cachesRemoved
        /// The account's temporary files were removed.
        case temporaryFilesRemoved
        /// One attachment has ended, well or not.
        case attachmentEnded
        /// The report is on disk; the wipe is over.
        case finished
    }

    /// Which step.
    public let kind: Kind
    /// An attachment's name; nil for other steps. Never a file's name.
    public let detail: String?

    init(_ kind: Kind, _ detail: String? = nil) {
        self.kind = kind
        self.detail = detail
    }
}
