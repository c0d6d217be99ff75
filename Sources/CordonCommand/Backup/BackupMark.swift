import CordonBase
import Foundation

/// When the last backup of a folder was made, for the service to see.
enum BackupMark {
    /// The name of the file in a data folder; its time is the backup's.
    static let name = "last-backup"

    /// Notes a backup; a folder that cannot be written does not prevent the backup. Anyone may read it: root may have made the backup.
    static func write(in folder: URL, at time: Date) {
        let text = Data((time.formatted(.iso8601) + "\n").utf8)
        try? DurableFile.replace(folder.appending(path: name), with: text, permissions: 0o644)
    }

    /// When the last backup was made, nil where none is known.
    static func read(in folder: URL) -> Date? {
        (try? String(contentsOf: folder.appending(path: name), encoding: .utf8)).flatMap { text in
            try? Date(text.trimmingCharacters(in: .whitespacesAndNewlines), strategy: .iso8601)
        }
    }
}
