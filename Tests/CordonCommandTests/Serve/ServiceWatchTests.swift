import CordonService
import CordonServiceHTTP
import Foundation
import Logging
import Testing

@testable import CordonCommand

/// What a service warns of while it runs.
@Suite struct ServiceWatchTests {
    private func watch(
        _ folder: URL, _ readiness: Result<RootKeyState, ServiceError>, isRestored: Bool = false, at now: Date
    ) -> ServiceWatch {
        ServiceWatch(folder, readiness: readiness, isRestored: isRestored, at: now)
    }

    @Test func `an old backup, a restored store, a delegation near its end and a store that fails are told`() throws {
        try withServeFolder { folder in
            let now = Date(timeIntervalSince1970: 1_800_000_000)
            func root(isHere: Bool, days: Double) -> RootKeyState {
                RootKeyState(
                    thumbprint: "t", isHere: isHere, delegationEnds: now.addingTimeInterval(days * 86_400))
            }
            func told(_ watch: ServiceWatch) -> [String] {
                watch.warnings.map(\.message).filter { !$0.contains("disk") }
            }
            let sound = watch(folder, .success(root(isHere: false, days: 60)), at: now)
            #expect(told(sound) == [])
            #expect(sound.gauges.contains { $0.name == "cordon_ready" && $0.value == 1 })
            #expect(sound.gauges.contains { $0.name == "cordon_disk_free_bytes" && $0.value > 0 })
            #expect(told(watch(folder, .success(root(isHere: true, days: 3)), at: now)) == [])
            #expect(told(watch(folder, .success(root(isHere: false, days: 3)), at: now)).count == 1)
            BackupMark.write(in: folder, at: now.addingTimeInterval(-86_400))
            #expect(told(watch(folder, .success(root(isHere: true, days: 60)), at: now)) == [])
            BackupMark.write(in: folder, at: now.addingTimeInterval(-3 * 86_400))
            let old = watch(folder, .success(root(isHere: true, days: 60)), isRestored: true, at: now)
            #expect(told(old) == ["the last backup is old", "the store was restored and waits for an administrator"])
            #expect(old.gauges.contains { $0.name == "cordon_backup_age_seconds" && $0.value == 259_200 })
            let failing = watch(folder, .failure(ServiceError(.storageUnavailable, "the disk is full")), at: now)
            #expect(failing.gauges.contains { $0.name == "cordon_ready" && $0.value == 0 })
            #expect(failing.warnings.first?.details["reason"] == "the disk is full")
        }
    }
}
