import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import CordonTesting
import Foundation
import HTTPTypes
import Testing

/// One life of an app, driven by a seeded generator; every expectation names the seed and the step.
struct SimulatedLife {
    private let seed: UInt64
    private let device: Device
    private let deviceTime = TestTime()
    private let truth = TestTime()
    private let start: Date
    private var network: MortalNetwork
    private var app: AppProtection
    private var random: SeededGenerator
    private var steps = 0
    private var mayPrint = true
    private var isReachable = true
    private var skew: TimeInterval = 0
    private var commands: Set<String> = []
    private(set) var kills = 0
    private(set) var wipes = 0
    private(set) var publishes = 0
    private(set) var skews = 0

    init(seed: UInt64) async throws {
        self.seed = seed
        random = SeededGenerator(seed)
        start = truth.now
        device = try Device(time: deviceTime, inMemory: true)
        await device.service.set { [truth] in
            $0.time = { truth.now }
            $0.sparesEnvelopes = true
        }
        try await device.publish(["printBlocked": .bool(false)])
        network = MortalNetwork(device.service)
        app = try await Self.launch(device, network)
        #expect(await app.enroll(device.account) == .newPolicies)
    }

    var elapsed: TimeInterval { truth.now.timeIntervalSince(start) }
    var tally: String {
        "seed \(seed): \(steps) steps, \(kills) kills, \(wipes) wipes, \(publishes) rules, \(skews) clocks"
    }
    private var place: String { "seed \(seed), step \(steps)" }

    /// Something happens, some hours pass, and the app does what is due.
    mutating func step() async throws {
        steps += 1
        truth.advance(by: .random(in: 60...6 * 3600, using: &random))
        var killAfter: Int?
        switch Int.random(in: 0..<20, using: &random) {
        case 0...2: try await publish()
        case 3...5: try await breakOrMend()
        case 6, 7: setClock()
        case 8, 9: skew = 0
        case 10...12: try await restart()
        case 13...15: killAfter = .random(in: 0...3, using: &random)
        case 16: await forgetRegistration()
        case 17: await commandWipe()
        default: break
        }
        deviceTime.set(truth.now + skew)
        let before = (isEnrolled: await isEnrolled, mayPrint: device.mayPrint(app))
        let wasKnown = await !app.enrollments.registeredAccounts.isEmpty
        try await work(killAfter: killAfter)
        if !wasKnown { #expect(await !isEnrolled, "\(place): enrolled without the person's will") }
        if !isReachable, before.isEnrolled {
            // Without a network, and with any clock, the rules that were in force are.
            #expect(await isEnrolled, "\(place): the enrolment was lost")
            #expect(device.mayPrint(app) == before.mayPrint, "\(place): the rules were lost")
        }
        if await !isEnrolled { #expect(!device.mayPrint(app), "\(place): who is not enrolled is denied") }
        try await finishWipe()
        if isReachable, skew == 0 { try await expectUpToDate() }
    }

    /// Peace at the end: every wipe was carried out once.
    mutating func calmDown() async throws {
        skew = 0
        try await mend()
        for _ in 0..<3 {
            truth.advance(by: 9 * 3600)
            deviceTime.set(truth.now)
            try await work()
            try await finishWipe()
        }
        try await expectUpToDate()
        let receipts = try await device.service.acknowledgements.compactMap(\.receipt).map {
            try WipeReceipt(verifying: $0, signedBy: device.sessions.publicKey)
        }
        // A receipt may be handed in again; a second wipe would have another beginning.
        let begun = Set(receipts.map { "\($0.commandID) \($0.started)" })
        #expect(begun.count == commands.count, "\(place): \(begun.sorted())")
        #expect(Set(receipts.map(\.commandID)) == commands, "\(place)")
        #expect(app.diagnostics.report().waitingReceipts == 0, "\(place)")
    }

    /// Does what is due; an app that is ended on the way is started again and does it then.
    private mutating func work(killAfter: Int? = nil) async throws {
        let (ends, end) = AsyncStream.makeStream(of: Date?.self)
        network.end(after: killAfter, isHeard: .random(using: &random)) { end.yield(nil) }
        Task { [app] in end.yield(await app.performDueWork()) }
        var first = ends.makeAsyncIterator()
        guard let next = await first.next() ?? nil else {
            try await restart()
            return try await work()
        }
        network.end(after: nil, isHeard: false)
        #expect(next.timeIntervalSince(deviceTime.now) <= 8 * 3600, "\(place): something is planned too far ahead")
    }

    /// The app in use, online and with a right clock, has what the service has, after at most what is due.
    private mutating func expectUpToDate() async throws {
        if await lastCheckInAge > 1800 {
            #expect(await failures > 0, "\(place): a check-in was missed")
            // After failures the next attempt may be an hour away, never more.
            try await pass(3700)
            #expect(await lastCheckInAge <= 1800, "\(place): a retry was missed")
        }
        try await pass(1801)
        #expect(device.mayPrint(app) == mayPrint, "\(place): the rules in force are not the newest")
    }

    private mutating func pass(_ seconds: TimeInterval) async throws {
        truth.advance(by: seconds)
        deviceTime.set(truth.now)
        try await work()
        try await finishWipe()
    }

    private var isEnrolled: Bool { get async { app.enrolledAccounts.count == 1 } }
    private var failures: Int { get async { app.diagnostics.report().accounts.first?.failures ?? 0 } }
    private var lastCheckInAge: TimeInterval {
        get async {
            let last = app.diagnostics.report().accounts.first?.lastCheckIn
            return last.map { abs(deviceTime.now.timeIntervalSince($0)) } ?? 0
        }
    }

    private mutating func publish() async throws {
        publishes += 1
        mayPrint = .random(using: &random)
        try await device.publish(["printBlocked": .bool(!mayPrint), "description": .string("\(publishes)")])
    }

    private mutating func breakOrMend() async throws {
        try await mend()
        isReachable = .random(using: &random)
        guard !isReachable else { return }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: await device.service.set { $0.isUnreachable = true }
        case 1: await device.service.set { $0.outage = .serviceUnavailable }
        default: await device.service.set { $0.garbage = (.ok, "<html>Welcome to this hotel</html>") }
        }
    }

    private mutating func mend() async throws {
        isReachable = true
        await device.service.set { service in
            service.isUnreachable = false
            service.outage = nil
            service.garbage = nil
        }
    }

    private mutating func setClock() {
        skews += 1
        let hour = 3600.0
        skew =
            Bool.random(using: &random)
            ? .random(in: -72 * hour...960 * hour, using: &random) : .random(in: -30 * hour...30 * hour, using: &random)
    }

    private mutating func restart() async throws {
        kills += 1
        deviceTime.set(truth.now + skew)
        network = MortalNetwork(device.service)
        app = try await Self.launch(device, network)
    }

    private static func launch(_ device: Device, _ network: MortalNetwork) async throws -> AppProtection {
        let counter = try FileStateCounter(directory: device.folder.appending(path: "counters"))
        return try await device.start {
            $0.stateCounter = counter
            $0.transport = network
        }
    }

    private mutating func forgetRegistration() async {
        guard await device.service.commands.isEmpty else { return }
        let name = "registration-\(UInt32.random(in: 2...999_999, using: &random))"
        await device.service.set { $0.registration = name }
    }

    private mutating func commandWipe() async {
        guard await device.service.commands.isEmpty, await isEnrolled else { return }
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
    private mutating func finishWipe() async throws {
        guard await !isEnrolled else { return }
        let reported = await device.service.acknowledgements
        await device.service.set { service in
            service.commands.removeAll { command in
                reported.contains { $0.commandID == command.id && $0.phase == .succeeded }
            }
        }
        guard isReachable, skew == 0, await device.service.commands.isEmpty else { return }
        await app.enroll(device.account)
        #expect(await isEnrolled, "\(place): no account can be enrolled again")
    }
}
