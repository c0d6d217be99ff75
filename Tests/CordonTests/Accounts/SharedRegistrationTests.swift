import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Logging
import Testing

@testable import Cordon

/// A registration that two running processes of an app change, while somebody puts older copies back.
@Suite(.timeLimit(.minutes(10))) struct SharedRegistrationTests {
    private let ada: AccountID = "oid-a"

    private func file(of device: Device) throws -> URL {
        let name = try #require(device.files(in: "registrations").first { $0.hasSuffix(".json") })
        return device.folder.appending(path: "data/registrations").appending(path: name)
    }

    private func stored(on device: Device) throws -> JSONValue {
        try JSONValue(parsing: device.contents(ofState: file(of: device)))
    }

    @Test func `a copy that was put back does not become the newest by a process that knew it before`() async throws {
        let device = try Device()
        let first = try await device.enrolled(["printBlocked": .bool(false)])
        let copy = try Data(contentsOf: file(of: device))
        try await device.publish(["printBlocked": .bool(true)])
        let second = try await device.start()
        #expect(await second.checkIn(ada) == .newPolicies)
        try copy.write(to: file(of: device))
        await device.service.set { $0.isUnreachable = true }
        for _ in 0..<2 { await first.checkIn(ada) }
        #expect(first.context.accounts[ada]?.failures == 2, "it counts until the app ends")
        #expect(!device.mayPrint(try await device.start()))
    }

    @Test func `a process takes up no copy that was put back, be it newer than what it knows`() async throws {
        let device = try Device()
        let first = try await device.enrolled(["printBlocked": .bool(true)])
        let second = try await device.start()
        try await device.publish(["printBlocked": .bool(false)])
        #expect(await second.checkIn(ada) == .newPolicies)
        let copy = try Data(contentsOf: file(of: device))
        try await device.publish(["printBlocked": .bool(true)])
        #expect(await second.checkIn(ada) == .newPolicies)
        try copy.write(to: file(of: device))
        await device.service.set { $0.isUnreachable = true }
        await first.performDueWork()
        #expect(!device.mayPrint(first))
        #expect(!device.mayPrint(try await device.start()))
    }

    @Test func `a process that knows the newest rules stores them anew in place of a copy that was put back`()
        async throws
    {
        let device = try Device()
        _ = try await device.enrolled(["printBlocked": .bool(true)])
        let copy = try Data(contentsOf: file(of: device))
        try await device.publish(["printBlocked": .bool(false)])
        let second = try await device.start()
        #expect(await second.checkIn(ada) == .newPolicies)
        try copy.write(to: file(of: device))
        await device.service.set { $0.isUnreachable = true }
        await second.checkIn(ada)
        #expect(device.mayPrint(try await device.start()))
    }

    @Test func `what one process notes of an account stays when another one notes something else`() async throws {
        let device = try Device()
        let first = try await device.enrolled()
        let second = try await device.start()
        try first.context.accounts.change(ada) { $0.isAccountDisabled = true }
        try second.context.accounts.change(ada) { $0.lastEventID = "7" }
        let stored = try stored(on: device)
        #expect(stored["isAccountDisabled"]?.bool == true)
        #expect(stored["lastEventID"]?.string == "7")
        #expect(second.context.accounts[ada]?.isAccountDisabled == true)
    }

    @Test(arguments: [true, false])
    func `what is noted while a check-in is under way stays when its answer comes`(hasNews: Bool) async throws {
        let device = try Device()
        _ = try await device.enrolled()
        await device.service.set { $0.sparesEnvelopes = !hasNews }
        let latch = Latch()
        let service = HeldAnswers(device.service, to: "/checkins", latch: latch)
        let protection = try await device.start { $0.transport = service }
        let asking = Task { await protection.checkIn(ada) }
        await latch.waitForArrival()
        let shown = EvidenceReports.Shown(key: "k", next: .now)
        try protection.context.accounts.change(ada) { $0.evidence = shown }
        let other = try await device.start()
        try other.context.accounts.change(ada) { $0.lastEventID = "7" }
        await latch.open()
        #expect(await asking.value == (hasNews ? .newPolicies : .policiesUnchanged))
        #expect(protection.context.accounts[ada]?.evidence?.key == "k")
        #expect(protection.context.accounts[ada]?.lastEventID == "7")
    }

    @Test func `an answer that took longer does not bring back the key set before`() async throws {
        let time = TestTime()
        let device = try Device(time: time)
        _ = try await device.enrolled()
        await device.service.set { $0.sparesEnvelopes = true }
        let latch = Latch()
        let service = HeldAnswers(device.service, to: "/checkins", latch: latch)
        let slow = try await device.start { $0.transport = service }
        let asking = Task { await slow.checkIn(ada) }
        await latch.waitForArrival()
        let next = SoftwareSigningKey()
        let set = try SignedKeySet(
            [next.publicKey, device.service.signing.publicKey], version: 2, validFrom: .distantPast,
            until: time.now + 86_400, root: device.service.root)
        await device.service.set { ($0.forger, $0.keySet) = (next, set) }
        #expect(await (try device.start()).checkIn(ada) == .policiesUnchanged)
        await latch.open()
        #expect(await asking.value == .policiesUnchanged)
        #expect(try slow.context.accounts.stored(ada)?.keys.version == 2)
    }

    @Test func `what is noted of a former registration does not put it back`() async throws {
        let device = try Device()
        let first = try await device.enrolled()
        let second = try await device.start()
        await device.service.set { $0.registration = "registration-2" }
        #expect(await first.checkIn(ada).didSucceed)
        try second.context.accounts.change(ada) { $0.lastEventID = "7" }
        #expect(try stored(on: device)["registrationID"]?.string == "registration-2")
    }

    @Test func `rules of the service take the place of a registration that was taken away under a running app`()
        async throws
    {
        let device = try Device()
        let protection = try await device.enrolled(["printBlocked": .bool(false)])
        try FileManager.default.removeItem(at: file(of: device))
        try await device.publish(["printBlocked": .bool(true)])
        #expect(await protection.checkIn(ada) == .newPolicies)
        #expect(!device.mayPrint(protection))
        let restarted = try await device.start()
        #expect(restarted.enrolledAccounts == [device.account] && !device.mayPrint(restarted))
    }

    @Test func `a start takes up no account whose registration ends once it was read`() async throws {
        let device = try Device()
        let running = try await device.enrolled()
        try Data("damaged".utf8).write(to: device.folder.appending(path: "data/registrations/damaged.json"))
        // The start tells of the damaged one after it has read both.
        let log = Logger(label: "test") { _ in
            AwaitedLine(reason: "1 stored registrations could not be read") { [ada] in
                do { try running.context.accounts.removeStored(ada) } catch { Issue.record(error) }
            }
        }
        let started = try await device.start { $0.logger = log }
        #expect(!device.files(in: "registrations").contains { $0.hasSuffix(".json") }, "the control")
        #expect(started.enrolledAccounts.isEmpty && !started.rules.isManaged(ada))
    }

    @Test func `an account without a registration that another process has removed denies nothing any more`()
        async throws
    {
        let device = try Device()
        _ = try await device.enrolled()
        try FileManager.default.removeItem(at: file(of: device))
        let (first, second) = (try await device.start(), try await device.start())
        #expect(first.rules.isManaged(ada), "its key is here, and nobody knows what holds")
        #expect(await second.unenroll(ada) == .unenrolled)
        await first.performDueWork()
        #expect(!first.rules.isManaged(ada) && first.rules.managedAccounts.isEmpty)
    }

    @Test func `an account that has left denies nothing any more once the state counter answers again`() async throws {
        let device = try Device()
        let counter = try StuckCounter(directory: device.folder.appending(path: "numbers"))
        func start() async throws -> AppProtection { try await device.start { $0.stateCounter = counter } }
        try await device.publish([:])
        let before = try await start()
        #expect(await before.enroll(device.account) == .newPolicies)
        let state = SealedState<RegistrationRecord>(
            file: StateFile(url: try file(of: device)), purpose: "registration", seal: before.context.seal,
            former: .json)
        #expect(await before.unenroll(ada, wiping: false) == .unenrolled)
        let name = try state.counterName
        counter.silent.withLock { $0 = [name] }
        let protection = try await start()
        #expect(protection.rules.isManaged(ada), "it may not have left")
        counter.silent.withLock { $0 = [] }
        await protection.performDueWork()
        #expect(!protection.rules.isManaged(ada))
    }

    @Test func `a registration that another process writes in place of a damaged one is not put aside for it`()
        async throws
    {
        let device = try Device()
        let protection = try await device.enrolled()
        let counter = try StuckCounter(directory: device.folder.appending(path: "data/counters"))
        let store = RegistrationStore(
            folder: try StateFolder(device.folder.appending(path: "data/registrations")),
            seal: StateSeal(
                keyStore: device.keyStore, folder: protection.context.stateFolder, counter: counter,
                bundleID: "example.notes"))
        let file = try file(of: device)
        let good = try Data(contentsOf: file)
        try Data("damaged".utf8).write(to: file)
        // A damaged record is looked at twice before it is put aside.
        counter.steps.withLock { $0 = [{}, {}, { try? good.write(to: file) }] }
        let contents = try store.load()
        #expect(contents.damaged == 0 && contents.records.map(\.account.id) == [ada])
        #expect(try Data(contentsOf: file) == good)
    }

    @Test func `who is in touch with the service is not offline, whatever became of the stored registration`()
        async throws
    {
        let time = TestTime()
        let device = try Device(time: time)
        await device.setServiceClock()
        let protection = try await device.enrolled()
        let before = try #require(protection.context.accounts.rules[ada]?.lastCheckIn)
        try FileManager.default.removeItem(at: file(of: device))
        time.advance(by: 3600)
        #expect(await protection.checkIn(ada).didSucceed)
        let after = try #require(protection.context.accounts.rules[ada]?.lastCheckIn)
        #expect(after.timeIntervalSince(before) >= 3600)
    }

    @Test func `one process's contact with the service counts for another one`() async throws {
        let time = TestTime()
        let device = try Device(time: time)
        await device.setServiceClock()
        let (first, second) = (try await device.enrolled(), try await device.start())
        time.advance(by: 3600)
        #expect(await second.checkIn(ada).didSucceed)
        await device.service.set { $0.isUnreachable = true }
        await first.performDueWork()
        #expect(first.context.accounts.rules[ada]?.lastCheckIn == second.context.accounts.rules[ada]?.lastCheckIn)
    }

    private func isReadable(_ protection: AppProtection) async -> Bool {
        (try? await protection.files.read("plan", of: ada)) == Data("plan".utf8)
    }

    /// An account with a file, in an app whose counter can be stuck.
    private func enrolled(
        _ device: Device, counting counter: StuckCounter
    ) async throws -> AppProtection {
        try await device.publish(["printBlocked": .bool(false)])
        let protection = try await device.start { $0.stateCounter = counter }
        #expect(await protection.enroll(device.account) == .newPolicies)
        try await protection.files.write(Data("plan".utf8), as: "plan", of: ada)
        try await device.publish(["printBlocked": .bool(true)])
        return protection
    }

    @Test func `rules that one process has stored and cannot count close the account in the others too`() async throws {
        let device = try Device()
        let counter = try StuckCounter(directory: device.folder.appending(path: "counters"))
        let first = try await enrolled(device, counting: counter)
        let second = try await device.start { $0.stateCounter = counter }
        #expect(await isReadable(second))
        counter.isStuck.withLock { $0 = true }
        #expect(await first.checkIn(ada) == .internalError)
        await device.service.set { $0.isUnreachable = true }
        await second.performDueWork()
        #expect(await !isReadable(second), "what came now would go by the rules before")
        counter.isStuck.withLock { $0 = false }
        await second.performDueWork()
        #expect(await isReadable(second))
        #expect(!device.mayPrint(second))
    }

    @Test func `rules whose number another process was quicker to take close the account`() async throws {
        let device = try Device()
        let counter = try StuckCounter(directory: device.folder.appending(path: "counters"))
        let protection = try await enrolled(device, counting: counter)
        counter.isOvertaken.withLock { $0 = true }
        #expect(await protection.checkIn(ada) == .internalError)
        #expect(await !isReadable(protection))
    }

    @Test func `contact counts over a start once news of the service have settled a doubt`() async throws {
        let time = TestTime()
        let device = try Device(time: time)
        let first = try await device.enrolled()
        let copy = try Data(contentsOf: file(of: device))
        try first.context.accounts.change(ada) { $0.lastEventID = "1" }
        try copy.write(to: file(of: device))
        let second = try await device.start()
        #expect(await second.checkIn(ada) == .newPolicies)
        await device.service.set { $0.sparesEnvelopes = true }
        time.advance(by: 3600)
        #expect(await second.checkIn(ada) == .policiesUnchanged)
        #expect(try second.context.accounts.stored(ada)?.lastCheckIn == time.now)
    }

    @Test func `what was denied in doubt is allowed again where another process has settled it`() async throws {
        let device = try Device()
        let first = try await device.enrolled(["printBlocked": .bool(false)])
        let copy = try Data(contentsOf: file(of: device))
        try first.context.accounts.change(ada) { $0.lastEventID = "1" }
        try copy.write(to: file(of: device))
        await device.service.set { $0.isUnreachable = true }
        let second = try await device.start()
        #expect(!device.mayPrint(second))
        try first.context.accounts.change(ada) { $0.lastEventID = "2" }
        await second.performDueWork()
        #expect(device.mayPrint(second))
    }
}

/// Does something when a line is logged that gives this reason.
private struct AwaitedLine: LogHandler {
    let reason: String
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.error
    let react: @Sendable () -> Void

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        if event.metadata?["reason"].map({ "\($0)" }) == reason { react() }
    }
}
