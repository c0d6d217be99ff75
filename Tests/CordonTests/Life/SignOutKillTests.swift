import CordonBase
import CordonIdentity
import CordonProtocol
import CordonTesting
import CordonVault
import Foundation
import Testing

@testable import Cordon

/// An app that is killed after the person has asked to leave has left.
@Suite(.timeLimit(.minutes(10))) struct SignOutKillTests {
    /// An app that waits for the service to end the registration, and what a kill leaves of it then.
    private func whileTelling(
        wiping: Bool, _ body: (GuardStand, GuardStand.Copy) async throws -> Void
    ) async throws {
        let (stand, latch) = (try await GuardStand(), Latch())
        let protection = try await stand.opened([:]) {
            $0.transport = HeldAnswers(stand.service, to: "/registration-1", latch: latch)
        }
        let leaving = Task { await protection.unenroll(stand.account, wiping: wiping) }
        await latch.waitForArrival()
        #expect(protection.enrolledAccounts.isEmpty)
        stand.keepCopy(at: "telling")
        try await body(stand, try #require(stand.kept.first))
        await latch.open()
        #expect(await leaving.value == .unenrolled)
    }

    @Test func `a sign-out has removed the data before the service is told, and the next start finishes it`()
        async throws
    {
        try await whileTelling(wiping: true) { stand, copy in
            let next = try await stand.start(on: copy)
            #expect(next.enrolledAccounts.isEmpty)
            #expect(try next.context.vaults.allSatisfy { try !$0.keepsKey(of: stand.account) })
            #expect(try next.context.wipes.unfinishedAccounts().isEmpty)
            #expect(await next.wipes.handInReceipts() == 0)
            #expect(await next.enroll(stand.house.device.account).didSucceed)
        }
    }

    @Test func `who leaves the data behind has left before the service is told, and may sign in again at once`()
        async throws
    {
        try await whileTelling(wiping: false) { stand, copy in
            let next = try await stand.start(on: copy)
            #expect(next.enrolledAccounts.isEmpty)
            #expect(next.diagnostics.report().waitingUnenrollments == 1)
            #expect(await next.enroll(stand.house.device.account).didSucceed)
            stand.house.clock.advance(.seconds(7200))
            await next.performDueWork()
            #expect(next.enrolledAccounts.map(\.id) == [stand.account])
            #expect(next.diagnostics.report().waitingUnenrollments == 0)
        }
    }

    @Test func `a sign-out does not wait for a check-in that the service does not answer`() async throws {
        let device = try Device()
        let latch = Latch()
        _ = try await device.enrolled()
        let protection = try await device.start {
            $0.transport = HeldAnswers(device.service, to: "/checkins", latch: latch)
        }
        let checkIn = Task { await protection.checkIn(device.account.id) }
        await latch.waitForArrival()
        #expect(await protection.unenroll(device.account.id) == .unenrolled)
        #expect(protection.enrolledAccounts.isEmpty && device.keys.isEmpty)
        await latch.open()
        _ = await checkIn.value
        #expect(protection.enrolledAccounts.isEmpty)
    }

    @Test(arguments: [false, true])
    func
        `who leaves the data behind has left at the next start, and in other processes, while a check-in gets no answer`(
            isFinishedElsewhere: Bool
        ) async throws
    {
        let (stand, latch) = (try await GuardStand(), Latch())
        _ = try await stand.house.enrolled()
        let protection = try await stand.house.start {
            $0.transport = HeldAnswers(stand.service, to: "/checkins", latch: latch)
        }
        let other = try await stand.house.start()
        protection.context.telemetry.record(.policyApplied, of: stand.house.device.account, [.sdkVersion: "0.1"])
        stand.house.clock.advance(.seconds(60))
        let checkIn = Task { await protection.checkIn(stand.account) }
        await latch.waitForArrival()
        let leaving = Task { await protection.unenroll(stand.account, wiping: false) }
        try await until { protection.diagnostics.report().waitingUnenrollments == 1 }
        stand.keepCopy(at: "waiting")
        let next = try await stand.start(on: try #require(stand.kept.first))
        #expect(next.enrolledAccounts.isEmpty)
        #expect(next.diagnostics.report().waitingUnenrollments == 1)
        if isFinishedElsewhere {
            await other.performDueWork()
            #expect(other.enrolledAccounts.isEmpty)
        }
        await latch.open()
        _ = await checkIn.value
        #expect(await leaving.value == .unenrolled)
        #expect(protection.enrolledAccounts.isEmpty && stand.house.device.files(in: "registrations").isEmpty)
        #expect(await stand.service.unregistered == 1)
        #expect(protection.diagnostics.report().waitingUnenrollments == 0)
        #expect(protection.context.telemetry.take().allSatisfy { $0.event.account == nil })
    }

    /// An app that is left without a wipe while a check-in gets no answer, which it then gets; how both end.
    private func whileWaiting(
        _ stand: GuardStand, isForgotten: Bool = false, _ body: (AppProtection) async throws -> Void
    ) async throws -> (protection: AppProtection, checkIn: EnrollmentStatus, leave: EnrollmentStatus) {
        let latch = Latch()
        _ = try await stand.house.enrolled()
        let protection = try await stand.house.start {
            $0.transport = HeldAnswers(stand.service, to: "/checkins", latch: latch)
        }
        stand.house.clock.advance(.seconds(60))
        if isForgotten { await stand.service.set { $0.registration = "registration-2" } }
        let checkIn = Task { await protection.checkIn(stand.account) }
        await latch.waitForArrival()
        let leaving = Task { await protection.unenroll(stand.account, wiping: false) }
        try await until { protection.diagnostics.report().waitingUnenrollments == 1 }
        try await body(protection)
        await latch.open()
        return (protection, await checkIn.value, await leaving.value)
    }

    @Test func `a leave that waits is not undone by a registration that is made anew, and none is made for it`()
        async throws
    {
        let stand = try await GuardStand()
        let (protection, _, _) = try await whileWaiting(stand) { protection in
            // As by an exchange that was on its way when the leave was noted.
            var renewed = try #require(protection.context.accounts[stand.account])
            (renewed.registrationID, renewed.lastCheckIn) = ("registration-2", renewed.lastCheckIn + 3600)
            #expect(try protection.context.accounts.keep(renewed, isNews: true))
            stand.keepCopy(at: "renewed")
            let next = try await stand.start(on: try #require(stand.kept.first))
            #expect(next.enrolledAccounts.isEmpty)
            #expect(next.context.pending.unenrollments.map(\.registrationID) == ["registration-2"])
        }
        #expect(protection.enrolledAccounts.isEmpty && stand.house.device.files(in: "registrations").isEmpty)
    }

    @Test func `a check-in that a leave waits for makes no registration anew that the service has forgotten`()
        async throws
    {
        let stand = try await GuardStand()
        let (protection, checkIn, _) = try await whileWaiting(stand, isForgotten: true) { _ in }
        #expect(checkIn == .notEnrolledAccount)
        #expect(await stand.service.registered.count == 1)
        #expect(protection.enrolledAccounts.isEmpty && stand.house.device.files(in: "registrations").isEmpty)
    }

    @Test func `an extension does not take up an account whose leave waits, and finishes nothing`() async throws {
        let stand = try await GuardStand()
        let (_, _, leave) = try await whileWaiting(stand) { _ in
            let inExtension = try await stand.house.start { $0.isExtension = true }
            #expect(inExtension.enrolledAccounts.isEmpty)
            #expect(stand.house.device.files(in: "registrations").count == 1)
        }
        #expect(leave == .unenrolled)
    }

    @Test func `a leave that another process has finished does not end an enrolment that was made since`() async throws
    {
        let stand = try await GuardStand()
        let (protection, _, leave) = try await whileWaiting(stand) { _ in
            let other = try await stand.house.start()
            #expect(other.enrolledAccounts.isEmpty)
            #expect(await other.enroll(stand.house.device.account).didSucceed)
        }
        #expect(leave == .notEnrolledAccount)
        await protection.performDueWork()
        #expect(protection.enrolledAccounts.map(\.id) == [stand.account])
        #expect(await stand.service.unregistered == 0)
    }

    @Test func `who left while the clock was ahead, and enrols again after it was set right, stays enrolled`()
        async throws
    {
        let time = TestTime()
        let device = try Device(time: time)
        let protection = try await device.enrolled()
        let before = time.now
        time.advance(by: 7200)
        await device.service.set { $0.isUnreachable = true }
        #expect(await protection.unenroll(device.account.id, wiping: false) != .unenrolled)
        time.set(before + 60)
        await device.service.set { $0.isUnreachable = false }
        #expect(await protection.enroll(device.account).didSucceed)
        await protection.performDueWork()
        #expect(protection.enrolledAccounts.map(\.id) == [device.account.id])
        #expect(protection.diagnostics.report().waitingUnenrollments == 0)
        #expect(try await device.start().enrolledAccounts.map(\.id) == [device.account.id])
    }

    @Test func `a leave that cannot be finished stands where the clock is behind the last check-in`() async throws {
        let stand = try await GuardStand()
        let (group, counter) = try group(in: stand.house.device.folder)
        let protection = try await stand.house.enrolled(Self.telling) { $0.sharingGroup = group }
        stand.house.clock.advance(.seconds(1), wall: .seconds(-3600))
        counter.isStuck.withLock { $0 = true }
        #expect(await protection.unenroll(stand.account, wiping: false) == .wipeIncomplete)
        await protection.performDueWork()
        #expect(protection.enrolledAccounts.isEmpty)
        stand.keepCopy(at: "stuck")
        #expect(try await stand.start(on: try #require(stand.kept.first)).enrolledAccounts.isEmpty)
        counter.isStuck.withLock { $0 = false }
        await protection.performDueWork()
        #expect(try protection.context.accounts.stored(stand.account) == nil)
    }

    /// The group of a device, whose apps let notifications of the account be shown.
    private func group(in folder: URL) throws -> (group: SharingGroup, counter: StuckCounter) {
        let counter = try StuckCounter(directory: folder.appending(path: "numbers of the group"))
        let group = SharingGroup(
            directory: folder.appending(path: "group"),
            keyStore: FileKeyStore(directory: folder.appending(path: "keys of the group")), stateCounter: counter)
        return (group, counter)
    }

    private func level(in group: SharingGroup, _ folder: URL, of account: AccountID) async throws -> NotificationLevel {
        try await NotificationLevels(group, dataDirectory: folder.appending(path: "extension")).level(for: account)
    }

    private static let telling: [String: JSONValue] = [
        "pinRequired": .bool(false), "notificationRestriction": .string("allow"),
    ]

    @Test func `a leave that is killed before everything of the enrolment has ended is finished by the next start`()
        async throws
    {
        let stand = try await GuardStand()
        let folder = stand.house.device.folder
        let (group, counter) = try group(in: folder)
        let protection = try await stand.house.enrolled(Self.telling) { $0.sharingGroup = group }
        await protection.performDueWork()
        #expect(try await level(in: group, folder, of: stand.account) == .allow)
        #expect(await protection.telemetry.ledger().contains { $0.event.account == stand.account })
        stand.house.clock.advance(.seconds(60))
        counter.steps.withLock { $0 = [{ stand.keepCopy(at: "ending") }] }
        #expect(await protection.unenroll(stand.account, wiping: false) == .unenrolled)
        let next = try await stand.start(on: try #require(stand.kept.first)) { configuration in
            do {
                configuration.sharingGroup = try self.group(in: Self.folder(of: configuration)).group
            } catch { Issue.record(error) }
        }
        #expect(next.enrolledAccounts.isEmpty)
        let (copy, left) = (
            Self.folder(of: next.context.configuration), try #require(next.context.configuration.sharingGroup)
        )
        #expect(try await level(in: left, copy, of: stand.account) == .block)
        #expect(await next.telemetry.ledger().allSatisfy { $0.event.account == nil })
        #expect(try next.context.accounts.stored(stand.account) == nil)
    }

    private static func folder(of configuration: ProtectionConfiguration) -> URL {
        configuration.dataDirectory.deletingLastPathComponent()
    }

    @Test func `two who ask at once to leave, where the log cannot be emptied, are both told that nothing has gone`()
        async throws
    {
        let time = TestTime()
        let device = try Device(time: time)
        let logs = device.folder.appending(path: "data/logs")
        let log = try ProtectionLog(dataDirectory: logs.deletingLastPathComponent())
        _ = try await device.enrolled()
        let latch = Latch()
        let protection = try await device.start {
            $0.logFile = log
            $0.transport = HeldAnswers(device.service, to: "/checkins", latch: latch)
        }
        let checkIn = Task { await protection.checkIn(device.account.id) }
        await latch.waitForArrival()
        var both: [Task<EnrollmentStatus, Never>] = []
        for _ in 0..<2 {
            time.advance(by: 60)
            both.append(Task { await protection.unenroll(device.account.id, wiping: false) })
            try await until { protection.context.pending.unenrollments.map(\.ended) == [time.now] }
        }
        let lock = try StateFolder(logs).lock
        try? FileManager.default.removeItem(at: lock)
        try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false)
        await latch.open()
        _ = await checkIn.value
        for leave in both { #expect(await leave.value == .wipeIncomplete) }
        #expect(protection.enrolledAccounts.map(\.id) == [device.account.id])
        try FileManager.default.removeItem(at: lock)
        #expect(await protection.unenroll(device.account.id, wiping: false) == .unenrolled)
    }

    @Test func `a leave that cannot be finished is finished by the work that is due, and the service is told then`()
        async throws
    {
        let stand = try await GuardStand()
        let folder = stand.house.device.folder
        let (group, counter) = try group(in: folder)
        let protection = try await stand.house.enrolled(Self.telling) { $0.sharingGroup = group }
        let events = EventCatch(protection)
        counter.isStuck.withLock { $0 = true }
        #expect(await protection.unenroll(stand.account, wiping: false) == .wipeIncomplete)
        for _ in 0..<2 {
            #expect(protection.enrolledAccounts.isEmpty)
            stand.house.clock.advance(.seconds(3600))
            await protection.performDueWork()
        }
        #expect(await stand.service.unregistered == 0, "it has not left yet")
        counter.isStuck.withLock { $0 = false }
        for _ in 0..<2 {
            stand.house.clock.advance(.seconds(86_400))
            await protection.performDueWork()
        }
        #expect(await events.statuses().count { $0 == .unenrolled } == 1)
        #expect(try await level(in: group, folder, of: stand.account) == .block)
        #expect(try protection.context.accounts.stored(stand.account) == nil)
        #expect(await stand.service.unregistered == 1)
        #expect(protection.diagnostics.report().waitingUnenrollments == 0)
        #expect(await protection.enroll(stand.house.device.account).didSucceed)
    }

    @Test(arguments: ["registration-1", "registration-2"])
    func `an older note that an account leaves, put back, does not end the enrolment that it has now`(
        registration: String
    ) async throws {
        let stand = try await GuardStand()
        let (group, counter) = try group(in: stand.house.device.folder)
        let protection = try await stand.house.enrolled(Self.telling) { $0.sharingGroup = group }
        stand.house.clock.advance(.seconds(60))
        counter.isStuck.withLock { $0 = true }
        #expect(await protection.unenroll(stand.account, wiping: false) == .wipeIncomplete)
        let life = stand.house.device.folder.appending(path: "data/life/life.json")
        let leaving = try Data(contentsOf: life)
        counter.isStuck.withLock { $0 = false }
        stand.house.clock.advance(.seconds(86_400))
        await protection.performDueWork()
        await stand.service.set { $0.registration = registration }
        #expect(await protection.enroll(stand.house.device.account).didSucceed)
        try leaving.write(to: life)
        let next = try await stand.house.start { $0.sharingGroup = group }
        await next.performDueWork()
        #expect(next.enrolledAccounts == [stand.house.device.account])
        #expect(try next.context.accounts.stored(stand.account)?.registrationID == registration)
    }

    @Test func `a wipe removes an account whose leave could not be finished`() async throws {
        let stand = try await GuardStand()
        let (group, counter) = try group(in: stand.house.device.folder)
        let protection = try await stand.house.enrolled(Self.telling) { $0.sharingGroup = group }
        stand.house.clock.advance(.seconds(60))
        counter.isStuck.withLock { $0 = true }
        #expect(await protection.unenroll(stand.account, wiping: false) == .wipeIncomplete)
        #expect(await protection.unenroll(stand.account) == .unenrolled)
        #expect(try protection.context.vaults.allSatisfy { try !$0.keepsKey(of: stand.account) })
        #expect(try protection.context.accounts.stored(stand.account) == nil)
    }

    @Test(arguments: [false, true])
    func `a leave that a version before has noted is finished by the next start, and no later enrolment is`(
        isEnrolledSince: Bool
    ) async throws {
        let time = TestTime()
        let device = try Device(time: time)
        let protection = try await device.enrolled()
        let record = try #require(protection.context.accounts[device.account.id])
        let ended = record.lastCheckIn + (isEnrolledSince ? -1 : 1)
        try protection.context.pending.change { work in
            work.unenrollments.append(
                PendingWork.Unenrollment(
                    registrationID: record.registrationID, account: record.account.id, discovery: record.discovery,
                    deviceTag: record.deviceTag, ended: ended, nextAttempt: ended + 300))
        }
        let next = try await device.start()
        #expect(next.enrolledAccounts.isEmpty != isEnrolledSince)
        #expect(device.files(in: "registrations").isEmpty != isEnrolledSince)
        #expect(device.keys.count == 1, "the data stays")
    }
}
