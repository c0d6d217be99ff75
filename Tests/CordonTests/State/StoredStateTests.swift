import Cordon
import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTesting
import Foundation
import Testing

/// Stored state: older versions, copies, damage, two processes at once.
@Suite(.timeLimit(.minutes(10))) struct StoredStateTests {
    private func registrationFile(of device: Device) throws -> URL {
        let folder = device.folder.appending(path: "data/registrations")
        let name = try FileManager.default.contentsOfDirectory(atPath: folder.path).first { $0.hasSuffix(".json") }
        return folder.appending(path: try #require(name))
    }

    private func edit(_ file: URL, _ change: (inout [String: JSONValue]) -> Void) throws {
        var members = try #require(try JSONValue(parsing: Data(contentsOf: file)).object)
        change(&members)
        try Data(JSONValue.object(members).text().utf8).write(to: file)
    }

    private func holds(_ text: String, _ file: URL) throws -> Bool {
        try Data(contentsOf: file).range(of: Data(text.utf8)) != nil
    }

    @Test func `a home that the version before left plain is taken over with its rules, and sealed`() async throws {
        let device = try Device()
        let counter = try FileStateCounter(directory: device.folder.appending(path: "counters"))
        _ = try await device.enrolled(["printBlocked": .bool(false)])
        try device.makeFormer(isPlain: true)
        await device.service.set { $0.isUnreachable = true }
        let files = [try registrationFile(of: device), device.folder.appending(path: "data/life/life.json")]
        #expect(try files.allSatisfy { try holds(device.account.userPrincipalName, $0) }, "plain before")
        let upgraded = try await device.start { $0.stateCounter = counter }
        #expect(device.mayPrint(upgraded))
        #expect(await upgraded.enrollments.registeredAccounts == [device.account])
        #expect(try files.allSatisfy { try !holds(device.account.userPrincipalName, $0) })
        let again = try await device.start { $0.stateCounter = counter }
        #expect(device.mayPrint(again))
    }

    @Test func `a plain home with an unfinished wipe keeps its other accounts`() async throws {
        let device = try Device()
        let two = TwoAccounts(device)
        let protection = try await two.enrolled(
            on: device, ["printBlocked": .bool(false)], ["printBlocked": .bool(false)])
        // A wipe that the app could not finish has the next start write the life record before anything else.
        await device.sessions.set { $0.signerFailure = HeldSessions.refusal }
        try? await protection.wipe("oid-b")
        try device.makeFormer(isPlain: true)
        await device.sessions.set { $0.signerFailure = nil }
        let upgraded = try await device.start { $0.transport = two }
        #expect(upgraded.enrolledAccounts.contains(device.account))
        #expect(device.mayPrint(upgraded))
        #expect(device.mayPrint(try await device.start { $0.transport = two }))
    }

    @Test(arguments: ["lastCheckIn", "generation", "isAccountDisabled"])
    func `an edit of a stored registration does not go unseen`(member: String) async throws {
        let device = try Device()
        _ = try await device.enrolled(["printBlocked": .bool(false)])
        let file = try registrationFile(of: device)
        var members = try #require(try JSONValue(parsing: device.contents(ofState: file)).object)
        #expect(members[member] != nil)
        members[member] =
            switch member {
            case "lastCheckIn": .string("2100-01-01T00:00:00Z")
            case "generation": .integer(1_000_000)
            default: .bool(true)
            }
        // Plain, as the version before would have taken it.
        try Data(JSONValue.object(members).text().utf8).write(to: file)
        let restarted = try await device.start()
        #expect(restarted.enrolledAccounts.isEmpty)
        #expect(!device.mayPrint(restarted))
    }

    @Test func `a sealed registration whose bytes were changed, or that is another file's, is none`() async throws {
        let device = try Device()
        _ = try await device.enrolled(["printBlocked": .bool(false)])
        let file = try registrationFile(of: device)
        let sealed = try Data(contentsOf: file)
        try edit(file) { members in
            members["sealed"] = members["sealed"]?.string.map { .string(String($0.reversed())) }
        }
        #expect(await (try device.start()).enrolledAccounts.isEmpty)
        try Data(contentsOf: device.folder.appending(path: "data/life/life.json")).write(to: file)
        #expect(await (try device.start()).enrolledAccounts.isEmpty)
        try sealed.write(to: file)
        #expect(await (try device.start()).enrolledAccounts == [device.account])
    }

    @Test func `with a counter a plain file stays refused, whatever was removed beside it`() async throws {
        let device = try Device()
        let counter = try FileStateCounter(directory: device.folder.appending(path: "counters"))
        try await device.publish(["printBlocked": .bool(false)])
        await (try await device.start { $0.stateCounter = counter }).enroll(device.account)
        try device.makeFormer(isPlain: true)
        let restarted = try await device.start { $0.stateCounter = counter }
        #expect(restarted.enrolledAccounts.isEmpty)
        #expect(!device.mayPrint(restarted))
    }

    @Test func `a plain registration counts for nothing in a home of the version that had sealed them`() async throws {
        let device = try Device()
        _ = try await device.enrolled(["printBlocked": .bool(false)])
        let file = try registrationFile(of: device)
        let plain = try device.contents(ofState: file)
        try device.makeFormer()
        try plain.write(to: file)
        let restarted = try await device.start()
        #expect(restarted.enrolledAccounts.isEmpty && !device.mayPrint(restarted))
    }

    @Test func `a plain record with numbers that no counting led to is put aside, and does not end the process`()
        async throws
    {
        for member in ["generation", "failures"] {
            for number in [Int64.max, .min] {
                let device = try Device()
                _ = try await device.enrolled()
                try device.makeFormer(isPlain: true) { if $0[member] != nil { $0[member] = .integer(number) } }
                let restarted = try await device.start()
                await restarted.checkIn(device.account.id)
                #expect(restarted.enrolledAccounts.isEmpty)
                #expect(device.files(in: "registrations").contains { $0.hasSuffix(".damaged") }, "\(member) \(number)")
            }
        }
    }

    @Test func `a registration of the first version is taken over`() async throws {
        let device = try Device()
        _ = try await device.enrolled()
        try device.makeFormer(isPlain: true) { members in
            for name in ["version", "generation", "sequence", "failures"] { members[name] = nil }
        }
        let restarted = try await device.start()
        #expect(restarted.enrolledAccounts == [device.account])
        #expect(!device.mayPrint(restarted))
        #expect(await restarted.checkIn(device.account.id) == .newPolicies)
        let text = try String(contentsOf: try registrationFile(of: device), encoding: .utf8)
        #expect(text.contains(#""version":4"#))
    }

    @Test func `a registration of a newer version is left as it is, and its account is denied`() async throws {
        let device = try Device()
        _ = try await device.enrolled(["printBlocked": .bool(false)])
        let file = try registrationFile(of: device)
        try edit(file) { $0["version"] = .integer(99) }
        let before = try Data(contentsOf: file)
        let restarted = try await device.start()
        #expect(restarted.enrolledAccounts.isEmpty)
        #expect(!device.mayPrint(restarted))
        #expect(try Data(contentsOf: file) == before)
    }

    @Test func `a state that was put back denies everything until the next check-in`() async throws {
        let device = try Device()
        let counter = try FileStateCounter(directory: device.folder.appending(path: "counters"))
        try await device.publish(["printBlocked": .bool(false)])
        let protection = try await device.start { $0.stateCounter = counter }
        await protection.enroll(device.account)
        let file = try registrationFile(of: device)
        let old = try Data(contentsOf: file)
        try await device.publish(["printBlocked": .bool(true)])
        await protection.checkIn(device.account.id)
        try old.write(to: file)

        let restarted = try await device.start { $0.stateCounter = counter }
        let events = EventCatch(restarted)
        #expect(await events.has(.stateRolledBack(account: device.account.id)))
        #expect(!device.mayPrint(restarted))
        try await device.publish(["printBlocked": .bool(false)])
        #expect(await restarted.checkIn(device.account.id) == .newPolicies)
        #expect(device.mayPrint(restarted))
        let again = try await device.start { $0.stateCounter = counter }
        #expect(device.mayPrint(again))
    }

    private func isReadable(_ protection: AppProtection, of device: Device) async -> Bool {
        (try? await protection.files.read("plan", of: device.account.id)) == Data("plan".utf8)
    }

    private struct Refusal: Error {}

    @Test(arguments: [POSIXError(.EIO), Refusal()] as [any Error])
    func `rules that the state counter does not count close the account until it does`(failure: any Error) async throws
    {
        let device = try Device()
        let account = device.account.id
        let counter = try StuckCounter(directory: device.folder.appending(path: "counters"))
        counter.failure.withLock { $0 = failure }
        try await device.publish(["printBlocked": .bool(false)])
        let protection = try await device.start { $0.stateCounter = counter }
        #expect(await protection.enroll(device.account) == .newPolicies)
        try await protection.files.write(Data("plan".utf8), as: "plan", of: account)
        let file = try registrationFile(of: device)
        let before = try Data(contentsOf: file)
        try await device.publish(["printBlocked": .bool(true)])
        counter.isStuck.withLock { $0 = true }
        #expect(await protection.checkIn(account) == .internalError)
        #expect(await !isReadable(protection, of: device), "what came now would go by the rules before")
        await device.service.set { $0.isUnreachable = true }
        let restarted = try await device.start { $0.stateCounter = counter }
        #expect(await !isReadable(restarted, of: device), "and so would what came after a start")
        await restarted.performDueWork()
        #expect(await !isReadable(restarted, of: device))
        #expect(restarted.enrolledAccounts == [device.account])

        counter.isStuck.withLock { $0 = false }
        for process in [protection, restarted] {
            await process.performDueWork()
            #expect(await isReadable(process, of: device), "it needs no network")
            #expect(!device.mayPrint(process))
        }
        try before.write(to: file)
        #expect(!device.mayPrint(try await device.start { $0.stateCounter = counter }))
    }

    @Test func `what a check-in brings is done also where it is counted later`() async throws {
        let device = try Device()
        let counter = try StuckCounter(directory: device.folder.appending(path: "counters"))
        try await device.publish(["printBlocked": .bool(false)])
        let protection = try await device.start { $0.stateCounter = counter }
        let events = EventCatch(protection)
        #expect(await protection.enroll(device.account) == .newPolicies)
        try await device.publish(["printBlocked": .bool(true)])
        let request = LogRequest(id: "request-1", notAfter: 9_000_000_000)
        await device.service.set { $0.change = { $0.logRequests = [request] } }
        let isPolicy: @Sendable (ProtectionEvent) -> Bool = { if case .policyChanged = $0 { true } else { false } }
        #expect(await events.count(where: isPolicy) == 1)
        counter.isStuck.withLock { $0 = true }
        #expect(await protection.checkIn(device.account.id) == .internalError)
        await device.service.set { $0.isUnreachable = true }
        counter.isStuck.withLock { $0 = false }
        await protection.performDueWork()
        #expect(await events.count(where: isPolicy) == 2)
        let isLogs: @Sendable (ProtectionEvent) -> Bool = { if case .logs = $0 { true } else { false } }
        #expect(await events.first(where: isLogs) != nil)
    }

    @Test func `rules that a disk refuses for a moment are asked for again within minutes`() async throws {
        let time = TestTime()
        let device = try Device(time: time)
        let protection = try await device.enrolled(["printBlocked": .bool(false)])
        try await protection.files.write(Data("plan".utf8), as: "plan", of: device.account.id)
        let lock = device.folder.appending(path: "data/registrations.lock")
        try? FileManager.default.removeItem(at: lock)
        try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false)
        try await device.publish(["printBlocked": .bool(true)])
        #expect(await protection.checkIn(device.account.id) == .internalError)
        try FileManager.default.removeItem(at: lock)
        time.advance(by: 61)
        await protection.performDueWork()
        #expect(await isReadable(protection, of: device))
        #expect(!device.mayPrint(protection))
    }

    @Test func `rules that somebody keeps from being stored close the account until they are`() async throws {
        let device = try Device()
        let account = device.account.id
        let protection = try await device.enrolled(["printBlocked": .bool(false)])
        try await protection.files.write(Data("plan".utf8), as: "plan", of: account)
        let lock = device.folder.appending(path: "data/registrations.lock")
        try? FileManager.default.removeItem(at: lock)
        try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false)
        try await device.publish(["printBlocked": .bool(true)])
        for _ in 0..<2 {
            #expect(await protection.checkIn(account) == .internalError)
            #expect(await !isReadable(protection, of: device))
        }
        try FileManager.default.removeItem(at: lock)
        #expect(await protection.checkIn(account) == .newPolicies)
        #expect(await isReadable(protection, of: device))
        #expect(!device.mayPrint(try await device.start()))
    }

    @Test func `what was put back stays denied, however often a check-in fails and the app starts`() async throws {
        let time = TestTime()
        let device = try Device(time: time)
        await device.setServiceClock()
        let counter = try FileStateCounter(directory: device.folder.appending(path: "counters"))
        try await device.publish(["printBlocked": .bool(false)])
        let protection = try await device.start { $0.stateCounter = counter }
        await protection.enroll(device.account)
        let file = try registrationFile(of: device)
        let old = try Data(contentsOf: file)
        for _ in 0..<3 { await protection.checkIn(device.account.id) }
        try old.write(to: file)
        await device.service.set { $0.isUnreachable = true }
        for _ in 0..<6 {
            let restarted = try await device.start { $0.stateCounter = counter }
            for _ in 0..<3 { await restarted.checkIn(device.account.id) }
            #expect(!device.mayPrint(restarted))
        }
    }

    @Test func `an account that is enrolled again after a wipe keeps its rules over a start without a network`()
        async throws
    {
        let device = try Device()
        let counter = try FileStateCounter(directory: device.folder.appending(path: "counters"))
        try await device.publish(["printBlocked": .bool(false)])
        let protection = try await device.start { $0.stateCounter = counter }
        await protection.enroll(device.account)
        for _ in 0..<5 { await protection.checkIn(device.account.id) }
        try await protection.wipe(device.account.id)
        #expect(await protection.enroll(device.account) == .newPolicies)
        await device.service.set { $0.isUnreachable = true }
        #expect(device.mayPrint(try await device.start { $0.stateCounter = counter }))
    }

    @Test func `a clock that is turned back denies what depends on time, until the next check-in`() async throws {
        let time = TestTime()
        let device = try Device(time: time)
        let protection = try await device.enrolled(["printBlocked": .bool(false)])
        let launch = Question(.launch, owner: .managed(device.account.id))
        time.advance(by: 600)
        await protection.performDueWork()
        let rule = "launch.clock-turned-back"
        #expect(!protection.decision(for: launch).reasons.contains { $0.rule == rule })
        time.advance(by: -3_000)
        await device.service.set { $0.isUnreachable = true }
        let events = EventCatch(protection)
        await protection.performDueWork()
        #expect(await events.has(.clockTurnedBack))
        #expect(protection.decision(for: launch).reasons.contains { $0.rule == rule })
        let restarted = try await device.start()
        #expect(restarted.decision(for: launch).reasons.contains { $0.rule == rule }, "a restart does not help")
        await device.service.set { $0.isUnreachable = false }
        await restarted.checkIn(device.account.id)
        #expect(!restarted.decision(for: launch).reasons.contains { $0.rule == rule })
    }

    @Test func `a clock that is turned back right after the service was reached is told of`() async throws {
        let time = TestTime()
        let device = try Device(time: time)
        let protection = try await device.enrolled()
        await protection.checkIn(device.account.id)
        await device.service.set { $0.isUnreachable = true }
        let events = EventCatch(protection)
        time.advance(by: -3_000)
        await protection.performDueWork()
        #expect(await events.has(.clockTurnedBack))
    }

    @Test func `damaged files of every kind never keep an app from starting`() async throws {
        for target in ["registrations", "life", "wipes"] {
            let device = try Device()
            let protection = try await device.enrolled(["printBlocked": .bool(false)])
            await device.service.set { $0.isUnreachable = true }
            if target == "wipes" {
                try FileManager.default.createDirectory(
                    at: device.folder.appending(path: "data/wipes"), withIntermediateDirectories: true)
                try Data("[".utf8).write(to: device.folder.appending(path: "data/wipes/x.json"))
            }
            await protection.performDueWork()
            let folder = device.folder.appending(path: "data").appending(path: target)
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                for bytes in [Data(), Data("{".utf8), Data("[]".utf8), Data((0..<64).map { UInt8($0) })] {
                    try bytes.write(to: folder.appending(path: name))
                    let restarted = try await device.start()
                    if target != "life" { #expect(!device.mayPrint(restarted), "\(target)") }
                    await restarted.performDueWork()
                }
            }
        }
    }

    @Test func `an unreadable wipe closes everything, and the service's next answer finishes it`() async throws {
        let device = try Device()
        _ = try await device.enrolled(["printBlocked": .bool(false)])
        try Data("{".utf8).write(to: device.folder.appending(path: "data/wipes/x.json"))
        #expect(!device.mayPrint(try await device.start()))
        let restarted = try await device.start()
        #expect(!device.mayPrint(restarted), "a second start opens nothing")
        let account = device.account.id
        await device.service.set {
            $0.commands = [
                Command(
                    id: "c1", kind: .wipe, account: account, reason: .device, issuedAt: 0, notAfter: 9_000_000_000)
            ]
        }
        #expect(await restarted.checkIn(account) == .wipeReceived)
        #expect(await device.service.checkIns.last?.appliedDigest == nil, "nothing counts as applied")
        #expect(await device.service.acknowledgements.map(\.phase) == [.started, .succeeded])
        let left = try FileManager.default.contentsOfDirectory(atPath: device.folder.appending(path: "data/wipes").path)
        #expect(left == ["x.json.damaged"])
    }

    @Test func `two processes of an app see what the other one stored`() async throws {
        let device = try Device()
        let first = try await device.enrolled(["printBlocked": .bool(true)])
        let second = try await device.start()
        try await device.publish(["printBlocked": .bool(false)])
        await first.checkIn(device.account.id)
        await second.performDueWork()
        #expect(device.mayPrint(second))
        #expect(await second.unenroll(device.account.id, wiping: false) == .unenrolled)
        await first.performDueWork()
        #expect(first.enrolledAccounts.isEmpty)
        #expect(!device.mayPrint(first))
    }

    @Test func `many check-ins of two processes at once end with the newest rules on disk`() async throws {
        let device = try Device()
        let first = try await device.enrolled()
        let second = try await device.start()
        let account = device.account.id
        await withTaskGroup { group in
            for _ in 0..<10 {
                group.addTask { await first.checkIn(account) }
                group.addTask { await second.checkIn(account) }
            }
        }
        let stored = try JSONValue(parsing: device.contents(ofState: try registrationFile(of: device)))
        let newest = await [first, second].asyncMax { $0.diagnostics.report().accounts.first?.sequence ?? 0 }
        #expect(stored["sequence"]?.integer == newest)
    }

    @Test func `a wipe that two processes are told of happens once`() async throws {
        let device = try Device()
        let first = try await device.enrolled()
        let second = try await device.start()
        let account = device.account.id
        await device.service.set {
            $0.commands = [
                Command(
                    id: "c1", kind: .wipe, account: account, reason: .device, issuedAt: 0, notAfter: 9_000_000_000)
            ]
        }
        async let one = first.checkIn(account)
        async let two = second.checkIn(account)
        let statuses = await [one, two]
        #expect(statuses.contains(.wipeReceived))
        await second.performDueWork()
        await first.performDueWork()
        // A process that finds the command stored and not begun carries it out beside everything else.
        try await until { await !device.service.acknowledgements.compactMap(\.receipt).isEmpty }
        try await until { first.enrolledAccounts.isEmpty }
        try await until { second.enrolledAccounts.isEmpty }
        await second.performDueWork()
        await first.performDueWork()
        let receipts = await device.service.acknowledgements.compactMap(\.receipt)
        #expect(Set(receipts).count == 1)
    }
}

extension Array where Element: Sendable {
    fileprivate func asyncMax(_ value: (Element) async -> Int64) async -> Int64 {
        var largest: Int64 = 0
        for element in self { largest = Swift.max(largest, await value(element)) }
        return largest
    }
}
