import CordonService
import CordonServiceHTTP
import Foundation
import Logging
import Testing

@testable import CordonCommand

/// What a service warns of while it runs.
@Suite struct ServiceWatchTests {
    private func watch(
        _ folder: URL, _ readiness: Result<RootKeyState, ServiceError>, isRestored: Bool = false, at now: Date,
        _ change: (inout ServiceWatch.Facts) -> Void = { _ in }
    ) -> ServiceWatch {
        var facts = ServiceWatch.Facts(readiness: readiness, isRestored: isRestored, started: now)
        change(&facts)
        return ServiceWatch(folder, facts, at: now)
    }

    private static let sound = Result<RootKeyState, ServiceError>.success(
        RootKeyState(thumbprint: "t", isHere: true, delegationEnds: nil))

    @Test func `an old backup, a restored store, a delegation near its end and a store that fails are told`() throws {
        try withServeFolder { folder in
            let now = Date(timeIntervalSince1970: 1_800_000_000)
            func root(isHere: Bool, days: Double) -> RootKeyState {
                RootKeyState(
                    thumbprint: "t", isHere: isHere, delegationEnds: now.addingTimeInterval(days * 86_400))
            }
            func told(_ watch: ServiceWatch) -> [String] {
                watch.conditions.map(\.message).filter { !$0.contains("disk") }
            }
            let sound = watch(folder, .success(root(isHere: false, days: 60)), at: now)
            #expect(told(sound) == [])
            #expect(sound.gauges.contains { $0.name == "cordon_ready" && $0.value == 1 })
            #expect(sound.gauges.contains { $0.name == "cordon_disk_free_bytes" && $0.value > 0 })
            #expect(told(watch(folder, .success(root(isHere: true, days: 3)), at: now)) == [])
            #expect(told(watch(folder, .success(root(isHere: false, days: 3)), at: now)).count == 1)
            BackupMark.write(in: folder, at: now.addingTimeInterval(-86_400))
            let mark = try FileManager.default.attributesOfItem(atPath: folder.appending(path: BackupMark.name).path)
            #expect(mark[.posixPermissions] as? Int == 0o644, "the service reads it, also where root made the backup")
            #expect(told(watch(folder, .success(root(isHere: true, days: 60)), at: now)) == [])
            BackupMark.write(in: folder, at: now.addingTimeInterval(-3 * 86_400))
            let old = watch(folder, .success(root(isHere: true, days: 60)), isRestored: true, at: now)
            #expect(told(old) == ["the last backup is old", "the store was restored and waits for an administrator"])
            #expect(old.gauges.contains { $0.name == "cordon_backup_age_seconds" && $0.value == 259_200 })
            BackupMark.write(in: folder, at: now.addingTimeInterval(365 * 86_400))
            let ahead = watch(folder, .success(root(isHere: true, days: 60)), at: now)
            #expect(told(ahead) == ["the last backup is old"], "the clock was ahead when it was made")
            let failing = watch(folder, .failure(ServiceError(.storageUnavailable, "the disk is full")), at: now)
            #expect(failing.gauges.contains { $0.name == "cordon_ready" && $0.value == 0 })
            #expect(failing.conditions.first?.details["reason"] == "the disk is full")
        }
    }

    @Test func `a directory file that is not followed and a clock that jumped are told`() throws {
        try withServeFolder { folder in
            let watch = watch(folder, Self.sound, at: Date(timeIntervalSince1970: 1_800_000_000)) {
                $0.directoryProblem = "it waits"
                $0.clockJump = 200 * 86_400
            }
            let found = watch.conditions.filter { [.directory, .clock].contains($0.kind) }
            #expect(found.map(\.details) == [["reason": "it waits"], ["days": "200"]])
        }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self"), "needs a file system without any space"))
    func `the disk and the log are those of the store, wherever it is`() throws {
        try withServeFolder { folder in
            func watch(_ store: String) -> ServiceWatch {
                self.watch(folder, Self.sound, at: Date(timeIntervalSince1970: 1_800_000_000)) {
                    $0.store = URL(filePath: store)
                }
            }
            let full = watch("/proc/store.sqlite")
            #expect(full.conditions.filter { $0.kind == .disk }.map(\.details) == [["free": "0"]])
            #expect(full.gauges.contains { $0.name == "cordon_disk_free_bytes" && $0.value == 0 })
            let other = folder.appending(path: "other.sqlite")
            try Data().write(to: other)
            try Data(count: 7).write(to: folder.appending(path: "other.sqlite-wal"))
            let link = folder.appending(path: "link.sqlite")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: other)
            for store in [other, link] {
                let gauges = watch(store.path).gauges
                #expect(gauges.contains { $0.name == "cordon_store_log_bytes" && $0.value == 7 })
            }
        }
    }

    @Test func `registrations and wipes under way are figures`() throws {
        try withServeFolder { folder in
            let watch = watch(folder, Self.sound, at: Date(timeIntervalSince1970: 1_800_000_000)) {
                $0.workload = ServiceWorkload(registrations: 7, openWipes: 2, failedWipes: 1)
            }
            let figures = watch.gauges.filter { ["cordon_registrations", "cordon_wipes"].contains($0.name) }
            #expect(figures.map(\.value) == [7, 2, 1])
            #expect(figures.map { $0.labels["state"] } == [nil, "open", "failed"])
        }
    }

    @Test func `a certificate near its end, keys that cannot be fetched, a changed log and no backup at all are told`()
        throws
    {
        try withServeFolder { folder in
            let now = Date(timeIntervalSince1970: 1_800_000_000)
            func told(_ change: (inout ServiceWatch.Facts) -> Void) -> [ServiceCondition] {
                watch(folder, Self.sound, at: now, change).conditions.filter { $0.kind != .disk }
            }
            #expect(told { $0.certificateEnds = now + 30 * 86_400 } == [])
            let ending = told { $0.certificateEnds = now + 3 * 86_400 }
            #expect(ending.map(\.kind) == [.certificate] && ending.first?.details["days"] == "3")
            #expect(told { $0.certificateEnds = now - 1 }.first?.message == "the certificate has ended")

            func provider(failing seconds: TimeInterval?) -> [ServiceCondition] {
                told {
                    $0.providers = [
                        ProviderKeyState(
                            issuer: "https://id.example", fetched: now - 7_200,
                            failingSince: seconds.map { now - $0 }, reason: "it could not be reached")
                    ]
                }
            }
            #expect(provider(failing: nil) == [] && provider(failing: 60) == [])
            let unreachable = provider(failing: 600)
            #expect(unreachable.map(\.name) == ["provider.unreachable https://id.example"])
            #expect(unreachable.first?.details["reason"] == "https://id.example: it could not be reached")

            #expect(told { $0.isAuditChanged = true }.map(\.kind) == [.audit])
            #expect(told { $0.started = now - 3 * 86_400 }.map(\.kind) == [.backup])
            let demo = told {
                $0.started = now - 3 * 86_400
                $0.isDevelopment = true
            }
            #expect(demo == [])
            let gauges = watch(folder, Self.sound, at: now) {
                $0.certificateEnds = now + 60
                $0.providers = [ProviderKeyState(issuer: "https://id.example", fetched: now - 90)]
            }.gauges
            #expect(gauges.contains { $0.name == "cordon_certificate_left_seconds" && $0.value == 60 })
            #expect(gauges.contains { $0.labels == ["issuer": "https://id.example"] && $0.value == 90 })
        }
    }
}
