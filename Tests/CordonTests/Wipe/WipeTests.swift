import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTesting
import Foundation
import Logging
import Testing

@testable import Cordon
@testable import CordonVault

/// SDK-SW-01…07, SRV-CI-086, SRV-TG-26: key first, everything of the account, nothing else, one receipt.
@Suite struct WipeTests {
    private func command(_ id: String = "c1", account: AccountID = "oid-a", notAfter: TimeInterval = 3600) -> Command {
        let now = Date().timeIntervalSince1970
        return Command(
            id: id, kind: .wipe, account: account, reason: .device, issuedAt: Int64(now),
            notAfter: Int64(now + notAfter))
    }

    @Test func `a commanded wipe removes files and account, and hands in a receipt that the device signed`()
        async throws
    {
        let device = try Device()
        let protection = try await device.enrolled()
        try await protection.files.write(Data("plan".utf8), as: "plan.txt", of: device.account.id)
        let wipe = command()
        let events = EventCatch(protection)
        await device.service.set { $0.commands = [wipe] }
        #expect(await protection.checkIn(device.account.id) == .wipeReceived)

        let finished = ProtectionEvent.wipeFinished(account: device.account.id, commandID: "c1", succeeded: true)
        #expect(await events.has(finished))
        #expect(await events.count { if case .wipeFinished = $0 { true } else { false } } == 1)
        // The check-in's own end first, then the enrolment's.
        let ends: [(StatusReport.Operation, EnrollmentStatus)] = [
            (.checkIn, .wipeReceived), (.unenrollment, .unenrolled),
        ]
        for (operation, status) in ends {
            #expect(await events.has(.status(StatusReport(operation, of: device.account.id, status))))
        }
        #expect(await events.statuses().suffix(2) == [.wipeReceived, .unenrolled])
        #expect(protection.enrolledAccounts.isEmpty)
        let reported = await device.service.acknowledgements
        #expect(reported.map(\.phase) == [.started, .succeeded])
        let text = try #require(reported.last?.receipt)
        let receipt = try WipeReceipt(verifying: text, signedBy: device.sessions.publicKey)
        #expect(receipt.commandID == "c1")
        #expect(receipt.destroyedKeyIDs.count == 1)
        #expect(receipt.files == 2, "the file and the list of names")
        #expect(receipt.succeeded)
        #expect(await device.sessions.ended == [device.account.id])
        await #expect(throws: ProtectionError(.notEnrolled, "")) {
            try await protection.files.read("plan.txt", of: device.account.id)
        }
        #expect(!device.mayPrint(protection), "what is left behind is denied, not free")
    }

    @Test func `no name that a wipe leaves is what a guess at the account gives`() async throws {
        let device = try Device()
        let account = device.account.id
        try await device.publish([:])
        let protection = try await device.start { $0.keepsBackgroundFiles = true }
        #expect(await protection.enroll(device.account) == .newPolicies)
        try await protection.files.write(Data("plan".utf8), as: "plan.txt", of: account)
        try await protection.files.background.write(Data("queue".utf8), as: "queue", of: account)
        func told() throws -> [String] {
            let guesses = [account.rawValue, account.fileName, FolderName.of(account)]
            return try FileManager.default.subpathsOfDirectory(atPath: device.folder.path)
                .filter { name in guesses.contains { name.lowercased().contains($0.lowercased()) } }
        }
        // The control: while the account is enrolled, names tell of it.
        #expect(try told().count > 2)
        let wipe = command()
        await device.service.set { $0.commands = [wipe] }
        #expect(await protection.checkIn(account) == .wipeReceived)
        #expect(await device.service.acknowledgements.map(\.phase) == [.started, .succeeded])
        #expect(try told() == [])
    }

    @Test func `a PIN that the app has kept itself before it came to share one goes with the account`() async throws {
        let house = try await Gatehouse()
        _ = try await house.opened()
        #expect(!house.pinFiles.isEmpty)
        let next = try await house.start { [folder = house.device.folder] in
            $0.pinDirectory = folder.appending(path: "group")
        }
        try await next.wipe(house.account)
        #expect(house.pinFiles.isEmpty)
    }

    @Test func `a command for another account, or one that lapsed, removes nothing`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        try await protection.files.write(Data("plan".utf8), as: "plan.txt", of: device.account.id)
        let commands = [command("c1", account: "oid-b"), command("c2", notAfter: -1)]
        await device.service.set { $0.commands = commands }
        #expect(await protection.checkIn(device.account.id) == .newPolicies)
        #expect(try await protection.files.read("plan.txt", of: device.account.id) == Data("plan".utf8))
        #expect(await device.service.acknowledgements.isEmpty)
    }

    @Test func `a wipe without a network is complete, and the receipt waits for the next start`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        await device.service.set { $0.isUnreachable = true }
        try await protection.wipe(device.account.id)
        #expect(protection.enrolledAccounts.isEmpty)
        #expect(await device.service.acknowledgements.isEmpty)
        #expect(await device.sessions.ended == [device.account.id], "no credential waits for the network")

        await device.service.set { $0.isUnreachable = false }
        let restarted = try await device.start()
        await restarted.deliverReceipts()
        let receipts = await device.service.acknowledgements.compactMap(\.receipt)
        #expect(Set(receipts).count == 1)
        let receipt = try WipeReceipt(verifying: try #require(receipts.first), signedBy: device.sessions.publicKey)
        #expect(receipt.succeeded)
    }

    @Test func `a new sign-in of the account survives the receipt of its old wipe`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        await device.service.set { $0.isUnreachable = true }
        try await protection.wipe(device.account.id)
        await device.service.set { $0.isUnreachable = false }
        #expect(await protection.enroll(device.account) == .newPolicies)
        let restarted = try await device.start()
        await restarted.deliverReceipts()
        #expect(restarted.enrolledAccounts == [device.account])
        #expect(await device.sessions.ended.count == 1)
    }

    enum Hindrance: CaseIterable { case session, disk }

    @Test(arguments: Hindrance.allCases, [false, true])
    func `a wipe that a session or a disk stops is 215, for the app's own call and for a command`(
        hindrance: Hindrance, isCommanded: Bool
    ) async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        try await protection.files.write(Data("plan".utf8), as: "plan.txt", of: device.account.id)
        let events = EventCatch(protection)
        if hindrance == .session { await device.sessions.set { $0.endFailure = HeldSessions.refusal } }
        let wipe = command()
        if isCommanded { await device.service.set { $0.commands = [wipe] } }
        await DiskFaults.$next.withValue({ hindrance == .disk && $0 == "unlink" ? EIO : 0 }) {
            if isCommanded {
                #expect(await protection.checkIn(device.account.id) == .wipeReceived)
            } else {
                #expect(await protection.unenroll(device.account.id) == .wipeIncomplete)
            }
        }
        #expect(
            await events.first {
                guard case .status(let report) = $0 else { return false }
                return report.operation == .unenrollment && report.status == .wipeIncomplete
            } != nil)
    }

    @Test func `a wipe that can remove nothing leaves nothing readable, and is carried out when it can`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        let account = device.account.id
        try await protection.files.write(Data("plan".utf8), as: "plan.txt", of: account)
        let wipe = command()
        await device.service.set { $0.commands = [wipe] }
        await DiskFaults.$next.withValue({ $0 == "unlink" ? EIO : 0 }) {
            #expect(await protection.checkIn(account) == .wipeReceived)
        }
        await #expect(throws: ProtectionError.self) { try await protection.files.read("plan.txt", of: account) }
        await protection.performDueWork()
        #expect(protection.enrolledAccounts.isEmpty)
        #expect(try await device.receipts().map(\.succeeded) == [true])
    }

    @Test func `a wipe that was stored and did not begin is carried out at the next start, without a network`()
        async throws
    {
        let device = try Device()
        let protection = try await device.enrolled()
        let wipe = command()
        await device.service.set { $0.commands = [wipe] }
        await DiskFaults.$next.withValue({ $0 == "unlink" ? EIO : 0 }) {
            #expect(await protection.checkIn(device.account.id) == .wipeReceived)
        }
        await device.service.set { $0.isUnreachable = true }
        let restarted = try await device.start()
        try await until { restarted.enrolledAccounts.isEmpty }
        await device.service.set { $0.isUnreachable = false }
        try await until {
            await restarted.deliverReceipts()
            return try await !device.receipts().isEmpty
        }
        #expect(
            try await device.receipts().allSatisfy(\.succeeded), "the wipe itself and the courier may both hand it in")
    }

    @Test func `a wipe that came in time does not lapse by a clock that is set ahead before it could begin`()
        async throws
    {
        let time = TestTime(Date())
        let device = try Device(time: time)
        let protection = try await device.enrolled()
        let (account, wipe) = (device.account.id, command())
        await device.service.set { $0.commands = [wipe] }
        let lock = try #require(try StateLock.take(protection.context.wipes.lock(of: account)))
        #expect(await protection.checkIn(account) == .wipeReceived)
        lock.end()
        #expect(device.files(in: "wipes").isEmpty && !device.keys.isEmpty)
        await device.service.set { $0.isUnreachable = true }
        time.advance(by: 7200)
        let restarted = try await device.start()
        try await until { restarted.enrolledAccounts.isEmpty && device.keys.isEmpty }
    }

    @Test func `an app that takes long over its part of a wipe is named in the log, and waited for`() async throws {
        let house = try await Gatehouse()
        let log = try ProtectionLog(dataDirectory: house.device.folder.appending(path: "log"))
        let done = Latch()
        let protection = try await house.enrolled { configuration in
            configuration.logger = Logger(label: "cordon") { log.handler($0) }
            configuration.interfaceDeadline = .seconds(90)
            configuration.wipeHook = { _ in
                await done.pass()
                return .leftToCordon
            }
        }
        let wiping = Task { try await protection.wipe(house.account) }
        await house.clock.waitForSleeper(of: .seconds(90))
        func text() -> String {
            log.files.map { (try? String(contentsOf: $0, encoding: .utf8)) ?? "" }.joined()
        }
        #expect(!text().contains("is not done yet"))
        house.clock.advance(.seconds(91))
        try await until { text().contains("is not done yet") }
        await done.open()
        try await wiping.value
        #expect(protection.enrolledAccounts.isEmpty)
    }

    /// A wipe that its caller leaves in the middle, whose app sees to its own part with work that can be cancelled.
    private func leave(
        _ device: Device, _ wipe: @escaping @Sendable (AppProtection) async throws -> Void,
        after prepare: (AppProtection) async throws -> Void = { _ in }
    ) async throws -> AppProtection {
        let (caller, isAsked) = (Locked<Task<Void, any Error>?>(nil), Locked(false))
        try await device.publish([:])
        let protection = try await device.start { configuration in
            configuration.wipeHook = { _ in
                guard isAsked.withLock({ $0 }) else { return .failed("not yet") }
                caller.withLock { $0 }?.cancel()
                await Task.yield()
                return Task.isCancelled ? .failed("cancelled") : .removed
            }
        }
        #expect(await protection.enroll(device.account) == .newPolicies)
        try await prepare(protection)
        isAsked.withLock { $0 = true }
        caller.withLock { $0 = Task { try await wipe(protection) } }
        try await caller.withLock { $0 }?.value
        return protection
    }

    @Test func `a wipe whose caller leaves in the middle is carried out like any other`() async throws {
        let device = try Device()
        let account = device.account.id
        let protection = try await leave(device) { try await $0.wipe(account) }
        #expect(await device.sessions.ended == [account])
        await protection.deliverReceipts()
        #expect(try await device.receipts().allSatisfy(\.succeeded))
        #expect(try await !device.receipts().isEmpty)
    }

    @Test func `so is one that work that is due takes up, also of an account without a registration`() async throws {
        let device = try Device()
        let account = device.account.id
        let protection = try await leave(device) {
            await $0.performDueWork()
        } after: { protection in
            #expect(await protection.unenroll(account, wiping: false) == .unenrolled)
            #expect(await protection.unenroll(account) == .wipeIncomplete)
        }
        #expect(device.keys.isEmpty && protection.enrolledAccounts.isEmpty)
        #expect(protection.context.pending.leaving?.contains(account) != true, "nothing is left to be done")
    }

    @Test func `an app that cannot remove its part is named in the receipt, and the wipe goes on`() async throws {
        let device = try Device()
        try await device.publish([:])
        let protection = try await device.start { $0.wipeHook = { _ in .failed("the app's search index is locked") } }
        await protection.enroll(device.account)
        try await protection.wipe(device.account.id)
        let last = try #require(await device.service.acknowledgements.last)
        #expect(last.phase == .failed)
        let receipt = try WipeReceipt(verifying: try #require(last.receipt), signedBy: device.sessions.publicKey)
        #expect(receipt.failures == ["the app's search index is locked"])
        #expect(protection.enrolledAccounts.isEmpty)
    }

    /// That a file is not there even for an account that is enrolled again and reads and writes others.
    private func expectNothing(as name: String, of device: Device, in protection: AppProtection) async throws {
        let (account, text) = (device.account.id, Data("new".utf8))
        #expect(await protection.enroll(device.account) == .newPolicies)
        try await protection.files.write(text, as: "new.txt", of: account)
        #expect(try await protection.files.read("new.txt", of: account) == text)
        await #expect(throws: (any Error).self) { try await protection.files.read(name, of: account) }
    }

    @Test func `unenrolling tells the service, removes the data, and works offline too`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        try await protection.files.write(Data("plan".utf8), as: "plan.txt", of: device.account.id)
        #expect(await protection.unenroll(device.account.id) == .unenrolled)
        #expect(await device.service.unregistered == 1)
        try await expectNothing(as: "plan.txt", of: device, in: protection)

        let offline = try Device()
        let other = try await offline.enrolled()
        try await other.files.write(Data("plan".utf8), as: "plan.txt", of: offline.account.id)
        await offline.service.set { $0.isUnreachable = true }
        #expect(await other.unenroll(offline.account.id) == .checkInNetworkFailure)
        #expect(other.enrolledAccounts.isEmpty)
        await offline.service.set { $0.isUnreachable = false }
        try await expectNothing(as: "plan.txt", of: offline, in: other)
    }

    @Test func `SC-17: an account that no rules target leaves with its data, and the managed one keeps data and rules`()
        async throws
    {
        let device = try Device()
        let two = TwoAccounts(device)
        let protection = try await two.enrolled(on: device, ["printBlocked": .bool(true)], [:])
        let (managed, other) = (two.first.account, two.second.account)
        await two.second.set { $0.policy = nil }
        #expect(await protection.checkIn(other.id) == .noPolicyTargeted)
        let plan = Data("plan".utf8)
        try await protection.files.write(plan, as: "plan.txt", of: managed.id)
        try await protection.files.write(Data("diary".utf8), as: "diary.txt", of: other.id)
        let folders = device.files(in: "files")
        #expect(protection.decision(for: Question(.print, owner: .managed(other.id))).verdict.permits)

        #expect(await protection.unenroll(other.id) == .unenrolled)
        #expect(protection.enrolledAccounts == [managed])
        #expect(device.files(in: "files").count == folders.count - 1)
        await #expect(throws: (any Error).self) { try await protection.files.read("diary.txt", of: other.id) }
        #expect(try await protection.files.read("plan.txt", of: managed.id) == plan)
        #expect(!device.mayPrint(protection))
        #expect(await protection.checkIn(managed.id) == .newPolicies)
    }

    @Test
    func `a receipt says why a device removed the data by itself, also where the service could not be told before`()
        async throws
    {
        // SRV-CI-012
        func cause(_ remove: (AppProtection, AccountID) async throws -> Void) async throws -> String? {
            let device = try Device()
            let protection = try await device.enrolled()
            await device.service.set { $0.isUnreachable = true }
            try await remove(protection, device.account.id)
            #expect(await device.service.acknowledgements.isEmpty)
            await device.service.set { $0.isUnreachable = false }
            #expect(await protection.wipes.handInReceipts() == 0)
            let text = try #require(await device.service.acknowledgements.last?.receipt)
            return try WipeReceipt(verifying: text, signedBy: device.sessions.publicKey).cause
        }
        #expect(try await cause { try await $0.wipe($1) } == "app")
        #expect(try await cause { await $0.unenroll($1) } == "unenrollment")
        let house = try await Gatehouse()
        house.facts.withLock { $0.rooted = true }
        let protection = try await house.enrolled(["appActionIfDeviceComplianceRequired": .string("wipe")])
        await house.goOffline()
        #expect(await protection.launch(house.account).result == .wiped)
        await house.device.service.set { $0.isUnreachable = false }
        #expect(await protection.wipes.handInReceipts() == 0)
        let text = try #require(await house.device.service.acknowledgements.last?.receipt)
        let receipt = try WipeReceipt(verifying: text, signedBy: house.device.sessions.publicKey)
        #expect(receipt.cause == "launch.rooted")
    }
}
