import CordonService
import CordonServiceHTTP
import Foundation
import Logging

/// What a service measures of itself, its machine and its folder while it runs, and what of that needs an administrator's attention.
struct ServiceWatch {
    /// Less free space than this is worth a warning, in bytes.
    static let leastFree = 512.0 * 1_048_576
    /// A backup that is older is worth one, in seconds; so is none at all in a service that has run for as long.
    static let oldestBackup: TimeInterval = 2 * 86_400
    /// How long before its end a certificate is worth one, in seconds.
    static let certificateWarning: TimeInterval = 14 * 86_400
    /// How long a provider's keys may fail to come before it is worth one, in seconds.
    static let longestFailure: TimeInterval = 300

    /// What the watch is told.
    struct Facts {
        /// What the service says of itself.
        var readiness: Result<RootKeyState, ServiceError>
        var isRestored = false
        /// Whether the audit log lacks the record that was kept beside the store.
        var isAuditChanged = false
        /// Why the directory file is not followed, nil where it is.
        var directoryProblem: String?
        /// How long the service was away by its clock, where maintenance waits for that; nil where it does not.
        var clockJump: TimeInterval?
        /// When the certificate ends, nil without one.
        var certificateEnds: Date?
        /// How the keys of providers stand.
        var providers: [ProviderKeyState] = []
        /// Since when the service runs.
        var started: Date
        /// What is under way, nil where the store does not say.
        var workload: ServiceWorkload?
        /// Where the store is, nil for one in memory.
        var store: URL?
        /// Whether no backup is needed.
        var isDevelopment = false
    }

    /// The conditions that need an operator.
    private(set) var conditions: [ServiceCondition] = []
    private(set) var gauges: [ServiceGauge] = []

    /// Looks at everything.
    init(_ folder: URL, _ facts: Facts, at now: Date) {
        note(facts.readiness, at: now)
        look(at: folder, facts, at: now)
        if let end = facts.certificateEnds { noteCertificate(end, at: now) }
        note(facts.providers, at: now)
        if let workload = facts.workload { note(workload) }
        gauges.append(
            ServiceGauge(
                "cordon_restored", "Whether a restored store waits for an administrator.", facts.isRestored ? 1 : 0))
        if facts.isRestored { add(.restored, "the store was restored and waits for an administrator") }
        if facts.isAuditChanged { add(.audit, "the audit log was changed outside the service") }
        if let problem = facts.directoryProblem {
            add(.directory, "the directory file is not followed", ["reason": problem])
        }
        if let jump = facts.clockJump {
            add(
                .clock, "the service was away for long, or its clock is ahead; nothing is put away for a day",
                ["days": "\(Int(jump / 86_400))"])
        }
    }

    private mutating func add(
        _ kind: ServiceCondition.Kind, of subject: String? = nil, _ message: String, _ details: [String: String] = [:]
    ) {
        conditions.append(ServiceCondition(kind, of: subject, message, details))
    }

    private mutating func note(_ readiness: Result<RootKeyState, ServiceError>, at now: Date) {
        gauges.append(
            ServiceGauge("cordon_ready", "Whether a check-in could be answered.", (try? readiness.get()) == nil ? 0 : 1)
        )
        switch readiness {
        case .failure(let error):
            add(
                .failing, "the service cannot do its work",
                ["code": error.code.rawValue, "reason": error.reason, "hint": error.hint])
        case .success(let root):
            let left = root.delegationEnds.map { max(0, $0.timeIntervalSince(now)) } ?? 0
            gauges.append(
                ServiceGauge(
                    "cordon_delegation_left_seconds", "How long what the root key delegated still lasts.", left))
            if root.needsAttention(at: now) {
                add(
                    .delegation, "what the root key delegated ends soon; run cordon keys delegate",
                    ["days": "\(Int(left / 86_400))"])
            }
        }
    }

    private mutating func noteCertificate(_ end: Date, at now: Date) {
        let left = max(0, end.timeIntervalSince(now))
        gauges.append(
            ServiceGauge("cordon_certificate_left_seconds", "How long the service's certificate still lasts.", left))
        guard left < Self.certificateWarning else { return }
        let message = left > 0 ? "the certificate ends soon" : "the certificate has ended"
        add(.certificate, message, ["days": "\(Int(left / 86_400))"])
    }

    private mutating func note(_ providers: [ProviderKeyState], at now: Date) {
        let name = "cordon_provider_keys_age_seconds"
        for provider in providers {
            let labels = ["issuer": provider.issuer]
            if let fetched = provider.fetched {
                let age = max(0, now.timeIntervalSince(fetched))
                gauges.append(
                    ServiceGauge(name, "How long ago a provider's keys were fetched.", labels: labels, age))
            }
            guard let since = provider.failingSince, now.timeIntervalSince(since) >= Self.longestFailure else {
                continue
            }
            add(
                .provider, of: provider.issuer, "the keys of an identity provider cannot be fetched",
                ["reason": "\(provider.issuer): \(provider.reason ?? "unknown")"])
        }
    }

    private mutating func note(_ workload: ServiceWorkload) {
        gauges.append(
            ServiceGauge("cordon_registrations", "Registrations that count.", Double(workload.registrations)))
        let help = "Wipes that have not ended, and those of the last days that failed or lapsed."
        for (state, count) in [("open", workload.openWipes), ("failed", workload.failedWipes)] {
            gauges.append(ServiceGauge("cordon_wipes", help, labels: ["state": state], Double(count)))
        }
    }

    private mutating func look(at folder: URL, _ facts: Facts, at now: Date) {
        // The store may be on another disk than the keys, also by a link; its log lies where the link leads.
        let store = facts.store?.resolvingSymlinksInPath()
        let free = [folder, store?.deletingLastPathComponent()].compactMap { place in
            let system = place.flatMap { try? FileManager.default.attributesOfFileSystem(forPath: $0.path) }
            return (system?[.systemFreeSize] as? NSNumber)?.doubleValue
        }.min()
        if let free {
            gauges.append(
                ServiceGauge("cordon_disk_free_bytes", "Free space where the service keeps everything.", free))
            if free < Self.leastFree { add(.disk, "the disk is almost full", ["free": "\(Int64(free))"]) }
        }
        let log = store.flatMap { try? FileManager.default.attributesOfItem(atPath: $0.path + "-wal") }
        if let size = (log?[.size] as? NSNumber)?.doubleValue {
            gauges.append(ServiceGauge("cordon_store_log_bytes", "What is not written back to the store yet.", size))
        }
        guard let backup = BackupMark.read(in: folder) else {
            let isOld = now.timeIntervalSince(facts.started) > Self.oldestBackup
            if isOld, !facts.isDevelopment { add(.backup, "no backup was ever made") }
            return
        }
        // One of the future was made while the clock was ahead, and would count as new until then.
        let age = abs(now.timeIntervalSince(backup))
        gauges.append(ServiceGauge("cordon_backup_age_seconds", "How long ago the last backup was made.", age))
        if age > Self.oldestBackup { add(.backup, "the last backup is old", ["days": "\(Int(age / 86_400))"]) }
    }
}
