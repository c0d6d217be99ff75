import CordonService
import CordonServiceHTTP
import Foundation
import Logging

/// What a service measures of its machine and its folder while it runs, and what of that somebody has to look at.
struct ServiceWatch {
    /// Less free space than this is worth a warning, in bytes.
    static let leastFree = 512.0 * 1_048_576
    /// A backup that is older is worth one, in seconds.
    static let oldestBackup: TimeInterval = 2 * 86_400

    /// What somebody has to look at, by its name in the log, with what to do.
    private(set) var warnings: [(message: String, details: Logger.Metadata)] = []
    private(set) var gauges: [ServiceGauge] = []

    /// Looks at everything.
    ///
    /// - Parameter readiness: What the service says of itself.
    init(_ folder: URL, readiness: Result<RootKeyState, ServiceError>, isRestored: Bool, at now: Date) {
        gauges.append(
            ServiceGauge("cordon_ready", "Whether a check-in could be answered.", (try? readiness.get()) == nil ? 0 : 1)
        )
        switch readiness {
        case .failure(let error):
            warnings.append(
                (
                    "the service cannot do its work",
                    ["code": "\(error.code.rawValue)", "reason": "\(error.reason)", "hint": "\(error.hint)"]
                ))
        case .success(let root):
            let left = root.delegationEnds.map { max(0, $0.timeIntervalSince(now)) } ?? 0
            gauges.append(
                ServiceGauge(
                    "cordon_delegation_left_seconds", "How long what the root key delegated still lasts.", left))
            if root.needsAttention(at: now) {
                warnings.append(
                    (
                        "what the root key delegated ends soon; run cordon keys delegate",
                        ["days": "\(Int(left / 86_400))"]
                    ))
            }
        }
        look(at: folder, at: now)
        gauges.append(
            ServiceGauge(
                "cordon_restored", "Whether a restored store waits for an administrator.", isRestored ? 1 : 0))
        if isRestored { warnings.append(("the store was restored and waits for an administrator", [:])) }
    }

    private mutating func look(at folder: URL, at now: Date) {
        let facts = try? FileManager.default.attributesOfFileSystem(forPath: folder.path)
        if let free = (facts?[.systemFreeSize] as? NSNumber)?.doubleValue {
            gauges.append(
                ServiceGauge("cordon_disk_free_bytes", "Free space where the service keeps everything.", free))
            if free < Self.leastFree { warnings.append(("the disk is almost full", ["free": "\(Int64(free))"])) }
        }
        let log = folder.appending(path: "service.sqlite-wal")
        if let size = ((try? FileManager.default.attributesOfItem(atPath: log.path))?[.size] as? NSNumber)?.doubleValue
        {
            gauges.append(ServiceGauge("cordon_store_log_bytes", "What is not written back to the store yet.", size))
        }
        guard let backup = BackupMark.read(in: folder) else { return }
        let age = max(0, now.timeIntervalSince(backup))
        gauges.append(ServiceGauge("cordon_backup_age_seconds", "How long ago the last backup was made.", age))
        if age > Self.oldestBackup { warnings.append(("the last backup is old", ["days": "\(Int(age / 86_400))"])) }
    }
}

/// When the last backup of a folder was made, for the service to see.
enum BackupMark {
    /// The name of the file in a data folder; its time is the backup's.
    static let name = "last-backup"

    /// Notes a backup; a folder that cannot be written keeps nobody from having one.
    static func write(in folder: URL, at time: Date) {
        try? PrivateFolder(folder).write(time.formatted(.iso8601) + "\n", to: name)
    }

    /// When the last backup was made, nil where none is known.
    static func read(in folder: URL) -> Date? {
        (try? String(contentsOf: folder.appending(path: name), encoding: .utf8)).flatMap { text in
            try? Date(text.trimmingCharacters(in: .whitespacesAndNewlines), strategy: .iso8601)
        }
    }
}
