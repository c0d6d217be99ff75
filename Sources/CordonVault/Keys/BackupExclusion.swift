internal import CordonAEADShim
package import Foundation

/// Keeps a folder and what lies in it out of backups, as far as the system offers that.
///
/// Keys and state that come back from a backup would undo a wipe or give guesses back. On Apple platforms the folder is marked as
/// excluded. On Linux there is no such agreement: the folder gets the file system's "no dump" flag, which `dump` and some others heed
/// and most do not; backups made there have to leave keys out (`docs/vault-format.md`, section 6).
package enum BackupExclusion {
    /// Marks a folder; where the system refuses, nothing changes.
    package static func exclude(_ folder: URL) {
        #if canImport(Darwin)
            var folder = folder
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try? folder.setResourceValues(values)
        #else
            _ = folder.path.withCString { cordon_set_no_dump($0) }
        #endif
    }

    /// Whether a folder is marked; nil where that cannot be told.
    package static func isExcluded(_ folder: URL) -> Bool? {
        #if canImport(Darwin)
            return try? folder.resourceValues(forKeys: [.isExcludedFromBackupKey]).isExcludedFromBackup
        #else
            let answer = folder.path.withCString { cordon_has_no_dump($0) }
            return answer < 0 ? nil : answer == 1
        #endif
    }
}
