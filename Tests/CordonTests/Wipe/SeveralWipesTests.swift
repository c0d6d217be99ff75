import Cordon
import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTesting
import Dispatch
import Foundation
import Testing

@testable import Cordon

/// Wipes one after another, at once, and beside other work: each removes what it says it has removed.
@Suite(.timeLimit(.minutes(10))) struct SeveralWipesTests {
    private let ada: AccountID = "oid-a"

    @Test func `a report that a kill left behind does not stand for the next wipe of the account`() async throws {
        let device = try Device()
        let report = device.folder.appending(path: "report")
        let reports = device.folder.appending(path: "data/vault/wipes")
        try await device.publish([:])
        let protection = try await device.start { configuration in
            configuration.wipeObserver = { step in
                guard step == "vault-finished",
                    let name = try? FileManager.default.contentsOfDirectory(atPath: reports.path).first
                else { return }
                try? FileManager.default.copyItem(
                    at: reports.appending(path: name), to: report.appendingPathExtension(name))
            }
        }
        await protection.enroll(device.account)
        try await protection.wipe(ada)
        // As a kill leaves it between the record of the wipe and the end of the report.
        let kept = try #require(
            try FileManager.default.contentsOfDirectory(atPath: device.folder.path).first { $0.hasSuffix(".report") })
        try FileManager.default.copyItem(
            at: device.folder.appending(path: kept), to: reports.appending(path: String(kept.dropFirst(7))))

        await protection.enroll(device.account)
        try await protection.files.write(Data("plan".utf8), as: "plan.txt", of: ada)
        try await protection.wipe(ada)
        #expect(device.keys.isEmpty)
        let receipts = try await device.receipts()
        #expect(receipts.count == 2)
        #expect(receipts.last?.destroyedKeyIDs.count == 1)
        #expect(receipts.first?.destroyedKeyIDs != receipts.last?.destroyedKeyIDs)
        #expect(receipts.last?.files == 2)
    }

    @Test func `a wipe that goes on after a kill discards the report that the kill left behind`() async throws {
        let device = try Device()
        let reports = device.folder.appending(path: "data/vault/wipes")
        let aside = device.folder.appending(path: "aside")
        try await device.publish([:])
        let protection = try await device.start { configuration in
            configuration.wipeObserver = { step in
                guard step == "vault-finished" else { return }
                try? FileManager.default.moveItem(at: reports, to: aside)
                try? FileManager.default.createDirectory(at: reports, withIntermediateDirectories: false)
            }
        }
        await protection.enroll(device.account)
        await device.sessions.set { $0.endFailure = HeldSessions.refusal }
        #expect(await protection.failureOfWiping(ada) == .stateUnwritable)
        // As a kill leaves it after the record of the wipe says that the vault is done.
        let names = try FileManager.default.contentsOfDirectory(atPath: aside.path)
        #expect(names.count == 1)
        for name in names {
            try FileManager.default.moveItem(at: aside.appending(path: name), to: reports.appending(path: name))
        }
        await device.sessions.set { $0.endFailure = nil }
        await (try device.start()).performDueWork()
        #expect(device.files(in: "wipes").isEmpty)
        #expect(device.files(in: "vault/wipes").isEmpty)
    }

    @Test func `the next start removes locks that a wiped account's kill has left, and no lock that is held`()
        async throws
    {
        let device = try Device()
        let protection = try await device.enrolled()
        let context = protection.context
        try await protection.wipe(ada)
        let left = [context.wipes.lock(of: ada), context.guards.folder.lock(for: FolderName.of(ada))]
        for place in left { #expect(FileManager.default.createFile(atPath: place.path, contents: nil)) }
        let place = context.wipes.lock(of: "oid-b")
        let held = try #require(try AdvisoryLock.take(place))
        _ = try await device.start()
        #expect(left.allSatisfy { !FileManager.default.fileExists(atPath: $0.path) })
        #expect(held.isCurrent)
        held.end()
    }

    @Test func `a wipe that another process notes in place of a damaged record is not put aside for it`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        await device.service.set { $0.isUnreachable = true }
        try await protection.wipe(ada)
        let name = try #require(device.files(in: "wipes").first)
        let file = device.folder.appending(path: "data/wipes").appending(path: name)
        let counter = try StuckCounter(directory: device.folder.appending(path: "data/counters"))
        let store = WipeStore(
            folder: try StateFolder(device.folder.appending(path: "data/wipes")),
            seal: StateSeal(
                keyStore: device.keyStore, folder: protection.context.stateFolder, counter: counter,
                bundleID: "example.notes"))
        let good = try Data(contentsOf: file)
        try Data("damaged".utf8).write(to: file)
        let damaged = try store.load().damaged
        #expect(damaged.count == 1)
        counter.steps.withLock { $0 = [{ try? good.write(to: file) }] }
        store.setAside(damaged)
        #expect(try Data(contentsOf: file) == good)
        #expect(try store.load().records.map(\.stage) == [.forgotten])
        try Data("damaged".utf8).write(to: file)
        store.setAside(damaged)
        #expect(device.files(in: "wipes") == [name + ".damaged"])
    }

    @Test func `an account is wiped at once while another one's wipe waits for the app`() async throws {
        let device = try Device()
        let two = TwoAccounts(device)
        let hook = Latch()
        let protection = try await two.enrolled(on: device, [:], [:]) { configuration in
            configuration.wipeHook = { account in
                if account.id == "oid-a" { await hook.pass() }
                return .removed
            }
        }
        try await protection.files.write(Data("plan".utf8), as: "plan.txt", of: "oid-b")
        #expect(device.keys.count == 2)
        let first = Task { await protection.failureOfWiping("oid-a") }
        await hook.waitForArrival()
        #expect(await protection.failureOfWiping("oid-b") == nil)
        #expect(device.keys.isEmpty)
        #expect(device.files(in: "files").isEmpty)
        #expect(await two.second.acknowledgements.last?.phase == .succeeded)
        await hook.open()
        #expect(await first.value == nil)
        #expect(device.files(in: "registrations").isEmpty)
        let locks = device.files(in: "").filter { $0.hasPrefix("wipes.") && $0 != "wipes.lock" }
        #expect(locks.isEmpty, "no lock file tells whose it was")
    }

    @Test func `a removal without a registration does not go on while the account is enrolled`() async throws {
        let device = try Device()
        _ = try await device.enrolled()
        for name in device.files(in: "registrations") {
            try FileManager.default.removeItem(
                at: device.folder.appending(path: "data/registrations").appending(path: name))
        }
        await device.sessions.set { $0.endFailure = HeldSessions.refusal }
        #expect(await (try device.start()).unenroll(ada) == .wipeIncomplete)
        await device.sessions.set { $0.endFailure = nil }

        let (answer, hook) = (Latch(), Latch())
        let (calls, isOver) = (Locked(0), Locked(false))
        let protection = try await device.start { configuration in
            configuration.transport = HeldAnswers(device.service, to: "/registrations", latch: answer)
            configuration.wipeHook = { _ in
                calls.withLock { $0 += 1 }
                await hook.pass()
                return .removed
            }
        }
        let enrolling = Task { await protection.enroll(device.account) }
        await answer.waitForArrival()
        let working = Task {
            await protection.performDueWork()
            isOver.withLock { $0 = true }
        }
        try await until { isOver.withLock { $0 } || calls.withLock { $0 } > 0 }
        await answer.open()
        #expect(await enrolling.value == .newPolicies)
        await hook.open()
        await working.value
        #expect(calls.withLock { $0 } == 0)
        #expect(await device.sessions.ended.isEmpty, "the new session stays")
        try await protection.files.write(Data("plan".utf8), as: "plan", of: ada)
        await protection.performDueWork()
        #expect(try await device.start().enrolledAccounts == [device.account])
    }

    @Test func `a second wipe of an account is not said to be done while the first one is under way`() async throws {
        let device = try Device()
        let hook = Latch()
        try await device.publish([:])
        let protection = try await device.start { configuration in
            configuration.wipeHook = { _ in
                await hook.pass()
                return .removed
            }
        }
        await protection.enroll(device.account)
        let process = try await device.start()
        let first = Task { await protection.failureOfWiping(ada) }
        await hook.waitForArrival()
        #expect(await protection.failureOfWiping(ada) == .wipeUnderWay)
        #expect(await protection.unenroll(ada) == .wipeIncomplete)
        #expect(await process.failureOfWiping(ada) == .wipeUnderWay)
        #expect(await process.unenroll(ada) != .unenrolled)
        #expect(process.enrolledAccounts.isEmpty)
        #expect(await process.enroll(device.account) == .removingExistingAccount)
        await hook.open()
        #expect(await first.value == nil)
        #expect(try await device.receipts().count == 1)
    }

    @Test func `an answer to a check-in does not bring an account back that is being wiped`() async throws {
        let device = try Device()
        let (hook, answer) = (Latch(), Latch())
        try await device.publish([:])
        let service = HeldAnswers(device.service, to: "/checkins", latch: answer)
        let protection = try await device.start { configuration in
            configuration.transport = service
            configuration.wipeHook = { _ in
                await hook.pass()
                return .removed
            }
        }
        await protection.enroll(device.account)
        let checkingIn = Task { await protection.checkIn(ada) }
        await answer.waitForArrival()
        let wiping = Task { await protection.failureOfWiping(ada) }
        await hook.waitForArrival()
        await answer.open()
        #expect(await checkingIn.value == .notEnrolled)
        #expect(protection.enrolledAccounts.isEmpty)
        #expect(device.keys.isEmpty)
        await hook.open()
        #expect(await wiping.value == nil)
        #expect(protection.enrolledAccounts.isEmpty)
        #expect(device.keys.isEmpty && device.files(in: "registrations").isEmpty)
    }

    @Test func `what the app asks of the account during its own part of a wipe is refused, and the wipe ends`()
        async throws
    {
        let device = try Device()
        let (app, answers) = (Locked<AppProtection?>(nil), Locked<[EnrollmentStatus]>([]))
        try await device.publish([:])
        let account = device.account
        let protection = try await device.start { configuration in
            configuration.wipeHook = { _ in
                guard let protection = app.withLock({ $0 }) else { return .removed }
                let statuses = [
                    await protection.checkIn(account.id), await protection.unenroll(account.id),
                    await protection.enroll(account),
                ]
                answers.withLock { $0 = statuses }
                return .removed
            }
        }
        app.withLock { $0 = protection }
        await protection.enroll(account)
        await device.service.set { $0.commands = [.wipe()] }
        #expect(await protection.checkIn(account.id) == .wipeReceived)
        #expect(answers.withLock { $0 } == [.wipeIncomplete, .wipeIncomplete, .removingExistingAccount])
        #expect(protection.enrolledAccounts.isEmpty)
        app.withLock { $0 = nil }
    }

    @Test func `a wipe is not lost where a start clears its lock away at that moment`() async throws {
        let device = try Device()
        let counter = try StuckCounter(directory: device.folder.appending(path: "numbers"))
        try await device.publish([:])
        let protection = try await device.start { $0.stateCounter = counter }
        await protection.enroll(device.account)
        let left = try #require(try StateLock.take(protection.context.wipes.lock(of: ada)))
        // The first question is whether the account is being removed.
        counter.steps.withLock { $0 = [{ left.end() }] }
        #expect(await protection.failureOfWiping(ada) == nil)
        #expect(device.keys.isEmpty && device.files(in: "registrations").isEmpty)
        // Where somebody has it for longer, the account is being removed there.
        await protection.enroll(device.account)
        let held = try #require(try StateLock.take(protection.context.wipes.lock(of: ada)))
        #expect(await protection.failureOfWiping(ada) == .wipeUnderWay)
        held.end()
    }

    @Test @MainActor func `the app's own part of a wipe may block: the main actor goes on meanwhile`() async throws {
        let device = try Device()
        let goOn = DispatchSemaphore(value: 0)
        let begun = Locked(false)
        try await device.publish([:])
        let protection = try await device.start { @Sendable configuration in
            configuration.wipeHook = { _ in
                begun.withLock { $0 = true }
                return Self.waits(for: goOn) ? .removed : .failed("the main actor stood still")
            }
        }
        await protection.enroll(device.account)
        let wiping = Task { await protection.failureOfWiping(ada) }
        try await until { begun.withLock { $0 } }
        goOn.signal()
        #expect(await wiping.value == nil)
        #expect(try await device.receipts().map(\.succeeded) == [true])
    }

    private nonisolated static func waits(for signal: DispatchSemaphore) -> Bool {
        signal.wait(timeout: .now() + 300) == .success
    }
}
