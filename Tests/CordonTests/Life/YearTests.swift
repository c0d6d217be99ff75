import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import HTTPTypes
import Testing

/// A year of an app's life: outages, wrong clocks, kills, changed rules, forgotten registrations, wipes.
///
/// No check-in that is due is missed, no wipe happens twice, no rules are lost. A month with every run; with
/// `CORDON_DEEP=1` a year of each of several lives.
@Suite(.timeLimit(.minutes(10))) struct YearTests {
    private static let isDeep = ProcessInfo.processInfo.environment["CORDON_DEEP"] != nil

    @Test(arguments: isDeep ? Array(1...5) : [1]) func `a life with everything in it keeps its rules`(seed: Int)
        async throws
    {
        var life = try await Life(seed: UInt64(seed))
        let days = Self.isDeep ? 365 : 30
        while life.elapsed < TimeInterval(days) * 86_400 {
            try await life.step()
        }
        try await life.calmDown()
        #expect(life.kills > 0 && life.wipes > 0 && life.publishes > 5, "seed \(seed) saw too little")
    }
}

/// One life, driven by a seeded generator.
private struct Life {
    private let device: Device
    private let deviceTime = TestTime()
    private let truth = TestTime()
    private let start: Date
    private var app: AppProtection
    private var random: Generator
    private var mayPrint = true
    private var isReachable = true
    private var skew: TimeInterval = 0
    private var commands: Set<String> = []
    private(set) var kills = 0
    private(set) var wipes = 0
    private(set) var publishes = 0

    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state ^ (state >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        }
    }

    init(seed: UInt64) async throws {
        random = Generator(state: seed)
        start = truth.now
        device = try Device(time: deviceTime)
        await device.service.set { [truth] in
            $0.time = { truth.now }
            $0.sparesEnvelopes = true
        }
        try await device.publish(["printBlocked": .bool(false)])
        let counter = try FileStateCounter(directory: device.folder.appending(path: "counters"))
        app = try await device.start { $0.stateCounter = counter }
        #expect(await app.enroll(device.account) == .newPolicies)
    }

    var elapsed: TimeInterval { truth.now.timeIntervalSince(start) }

    mutating func step() async throws {
        truth.advance(by: .random(in: 60...6 * 3600, using: &random))
        switch Int.random(in: 0..<20, using: &random) {
        case 0...2: try await publish()
        case 3...5: try await setReachable(.random(using: &random))
        case 6: skew = .random(in: -3 * 86_400...40 * 86_400, using: &random)
        case 7, 8: skew = 0
        case 9...12: try await restart()
        case 13: await forgetRegistration()
        case 14: await commandWipe()
        default: break
        }
        deviceTime.set(truth.now + skew)
        let next = await app.performDueWork()
        #expect(next.timeIntervalSince(deviceTime.now) <= 8 * 3600, "something is planned too far ahead")
        try await settleWipe()
        if isReachable, skew == 0 { try await expectUpToDate() }
        // Without a network, and with any clock, the rules that were in force are.
        if await app.enrolledAccounts.isEmpty { #expect(!device.mayPrint(app), "who is not enrolled is denied") }
    }

    /// Peace at the end: every wipe was carried out once.
    mutating func calmDown() async throws {
        skew = 0
        try await setReachable(true)
        truth.advance(by: 9 * 3600)
        deviceTime.set(truth.now)
        await app.performDueWork()
        try await settleWipe()
        await app.performDueWork()
        try await expectUpToDate()
        let receipts = try await device.service.acknowledgements.compactMap(\.receipt).map {
            try WipeReceipt(verifying: $0, signedBy: device.sessions.publicKey)
        }
        // A receipt may be handed in again; a second wipe would have another beginning.
        let begun = Set(receipts.map { "\($0.commandID) \($0.started)" })
        #expect(begun.count == commands.count, "\(begun.sorted())")
        #expect(Set(receipts.map(\.commandID)) == commands)
        #expect(await app.diagnosticReport().waitingReceipts == 0)
    }

    /// The app in use, online and with a right clock, has what the service has, after at most what is due.
    private mutating func expectUpToDate() async throws {
        for _ in 0..<3 {
            let age = await lastCheckInAge()
            if age <= 1800 { break }
            let failures = await app.diagnosticReport().accounts.first?.failures ?? 0
            // After failures the next attempt may be an hour away, never more.
            #expect(failures > 0 || age <= 1800, "a check-in was missed: \(age) s")
            truth.advance(by: 3700)
            deviceTime.set(truth.now)
            await app.performDueWork()
        }
        try await settleWipe()
        await app.checkIn(device.account.id)
        try await settleWipe()
        #expect(device.mayPrint(app) == mayPrint, "the rules in force are not the newest")
    }

    private func lastCheckInAge() async -> TimeInterval {
        let last = await app.diagnosticReport().accounts.first?.lastCheckIn
        return last.map { deviceTime.now.timeIntervalSince($0) } ?? 0
    }

    private mutating func publish() async throws {
        publishes += 1
        mayPrint = .random(using: &random)
        try await device.publish(["printBlocked": .bool(!mayPrint), "description": .string("\(publishes)")])
    }

    private mutating func setReachable(_ isReachable: Bool) async throws {
        self.isReachable = isReachable
        let failure = Bool.random(using: &random)
        await device.service.set {
            $0.isUnreachable = !isReachable && failure
            $0.outage = !isReachable && !failure ? .serviceUnavailable : nil
        }
    }

    private mutating func restart() async throws {
        kills += 1
        let counter = try FileStateCounter(directory: device.folder.appending(path: "counters"))
        deviceTime.set(truth.now + skew)
        app = try await device.start { $0.stateCounter = counter }
    }

    private mutating func forgetRegistration() async {
        guard await device.service.commands.isEmpty else { return }
        let name = "registration-\(UInt32.random(in: 2...999_999, using: &random))"
        await device.service.set { $0.registration = name }
    }

    private mutating func commandWipe() async {
        guard await device.service.commands.isEmpty else { return }
        wipes += 1
        let id = "c\(wipes)"
        commands.insert(id)
        let account = device.account.id
        await device.service.set {
            $0.commands = [
                Command(id: id, kind: .wipe, account: account, reason: .device, issuedAt: 0, notAfter: 9_000_000_000)
            ]
        }
    }

    /// After a wipe the service takes the command back, and the person signs in again.
    private mutating func settleWipe() async throws {
        guard await app.enrolledAccounts.isEmpty else { return }
        let reported = await device.service.acknowledgements
        await device.service.set { service in
            service.commands.removeAll { command in
                reported.contains { $0.commandID == command.id && $0.phase == .succeeded }
            }
        }
        guard isReachable, skew == 0, await device.service.commands.isEmpty else { return }
        await app.enroll(device.account)
        #expect(await app.enrolledAccounts.count == 1, "nobody can be enrolled again")
    }
}
