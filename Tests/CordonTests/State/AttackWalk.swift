import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import CordonTesting
import CordonVault
import Foundation
import Testing

@testable import Cordon

/// One random walk of a device: what its person, administrator and attacker do, and after each step what has to hold.
final class AttackWalk {
    /// What did not hold, with everything that led there.
    struct Broken: Error, CustomStringConvertible {
        let description: String
    }

    enum Step: String, CaseIterable {
        case start, startSecond, stop, launch, resume, suspend, changePIN, write, checkIn, performDueWork
        case switchNetwork, advance, publish, enroll, wipe, commandWipe, commandReset
        case copy, putBack, delete, setClockBack
    }

    /// A running app, and the oldest policy that may decide in it.
    struct Running {
        let protection: AppProtection
        var knows: Int
    }

    static let names = ["plan", "budget", "minutes"]
    /// Begins all that a file has.
    static let marker = "Zebrafinch"
    /// Longer than any step takes beside all other tests.
    static let mostTime = Duration.seconds(90)

    let seed: UInt64
    let reach: AttackReach
    let house: Gatehouse
    let counter = DistantCounter()
    let signals = WalkSignals()
    var random: SeededGenerator
    var attacker: HomeAttacker
    var model: AttackModel
    var running: [Running?] = [nil, nil]
    var trace: [String] = []
    var writes = 0
    var commands = 0
    var contacts = 0
    var wipes = 0
    /// What is not the app's.
    let outside: [String: Data]

    init(seed: UInt64, reach: AttackReach) async throws {
        self.seed = seed
        self.reach = reach
        random = SeededGenerator(seed)
        model = AttackModel(
            limit: .random(in: 2...5, using: &random), wipesAtLimit: Int.random(in: 0..<4, using: &random) == 0,
            trust: Bool.random(using: &random) ? 1800 : 0)
        house = try await Gatehouse(isLasting: reach == .everything, inMemory: true)
        await house.device.service.set { $0.keepsShares = true }
        attacker = HomeAttacker(of: house.device.folder, reach: reach.folders)
        let foreign = house.device.folder.appending(path: "outside")
        try FileManager.default.createDirectory(at: foreign, withIntermediateDirectories: true)
        try Data("not the app's\n".utf8).write(to: foreign.appending(path: "victim"))
        outside = try HomeAttacker.files(in: foreign)
        trace.append("limit \(model.limit), wipes \(model.wipesAtLimit), trust \(model.trust)")
        try await publish(isMild: true)
        try await start(0)
        try await enroll(0)
        try await pass(0, as: .owner, "launch") { [account] in Self.told(await $0.launch(account)) }
        try await write(0)
        if reach.isAttacked { trace.append(try attacker.keepCopy(&random)) }
        try await look()
    }

    var account: AccountID { house.account }

    // MARK: Steps

    /// Does something, and looks at what has to hold.
    func step() async throws {
        let step = choose()
        let began = ContinuousClock.now
        let watch = Self.watch(story(of: "is not over yet: \(step)"))
        defer { watch.cancel() }
        letAMomentPass()
        do {
            try await perform(step)
            try await look()
        } catch let error where !(error is Broken) { throw broken("\(step) failed: \(error)") }
        if ContinuousClock.now - began > Self.mostTime { throw broken("took too long") }
    }

    /// An app that writes in a folder may be in the attacker's way; what was done until then is an attack too.
    private func attack(_ act: () throws -> String) {
        do { trace.append(try act()) } catch { trace.append("stopped half-way: \(error)") }
    }

    /// Two looks at one moment tell nothing of time.
    private func letAMomentPass() {
        house.clock.advance(.seconds(1))
        model.uptime += 1
    }

    /// Tells of a step that does not end.
    private static func watch(_ story: String) -> Task<Void, Never> {
        Task {
            do { try await Task.sleep(for: mostTime) } catch { return }
            Issue.record("\(story)")
        }
    }

    func choose() -> Step {
        var weights: [(Step, Int)] = [
            (.start, 5), (.startSecond, 2), (.stop, 3), (.launch, 10), (.resume, 5), (.suspend, 5), (.changePIN, 3),
            (.write, 7), (.checkIn, 6), (.performDueWork, 2), (.switchNetwork, 4), (.advance, 6), (.publish, 5),
            (.enroll, model.isEnrolled ? 1 : 8), (.wipe, 2), (.commandWipe, 2), (.commandReset, 2),
        ]
        if reach.isAttacked { weights += [(.copy, 8), (.putBack, 20), (.delete, 6), (.setClockBack, 2)] }
        var left = Int.random(in: 0..<weights.map(\.1).reduce(0, +), using: &random)
        for (step, weight) in weights {
            left -= weight
            if left < 0 { return step }
        }
        return .launch
    }

    func perform(_ step: Step) async throws {
        switch step {
        case .start: try await start(slot())
        case .startSecond: try await start(1)
        case .stop:
            let slot = slot()
            end(slot)
            trace.append("stop \(slot)")
        case .launch:
            try await pass(try await live(), as: visitor(), "launch") { [account] in
                Self.told(await $0.launch(account))
            }
        case .resume:
            try await pass(try await live(), as: visitor(), "resume") { [account] in
                Self.told(await $0.resume(account))
            }
        case .suspend: try await onRunning("suspend") { await $0.suspend() }
        case .changePIN: try await changePIN(try await live())
        case .write: try await write(try await live())
        case .checkIn: try await checkIn(try await live())
        case .performDueWork: try await onRunning("due work") { _ = await $0.performDueWork() }
        case .switchNetwork:
            model.isOnline.toggle()
            if model.isOnline { await house.goOnline() } else { await house.goOffline() }
            trace.append(model.isOnline ? "online" : "offline")
        case .advance: advance([20, 600, 3000, 7 * 3600].randomElement(using: &random) ?? 20)
        case .publish: try await publish(isMild: .random(using: &random))
        case .enroll: try await enroll(try await live())
        case .wipe: try await wipe(try await live())
        case .commandWipe: try await command(.wipe, at: try await live())
        case .commandReset: try await command(.resetPIN, at: try await live())
        case .copy: attack { try attacker.keepCopy(&random) }
        case .putBack: attack { try attacker.putBack(nil, &random) }
        case .delete: attack { try attacker.delete(&random) }
        case .setClockBack:
            let seconds = [60, 7200, 86_400].randomElement(using: &random) ?? 60
            house.clock.advance(.zero, wall: .seconds(-seconds))
            trace.append("clock back by \(seconds)")
        }
    }

    /// Ends the walk: what is here is wiped, everything is put back once more, and the owner looks again.
    func end() async throws {
        if !model.isOnline { try await perform(.switchNetwork) }
        for slot in running.indices { end(slot) }
        letAMomentPass()
        try await start(0)
        if running[0] != nil {
            try await pass(0, as: .owner, "launch") { [account] in Self.told(await $0.launch(account)) }
            try await look()
            try await wipe(0)
            try await look()
        }
        if reach.isAttacked {
            attack { try attacker.putBack(.all, &random) }
            try await look()
            try await start(0)
            if running[0] != nil {
                try await enroll(0)
                try await pass(0, as: .owner, "launch") { [account] in Self.told(await $0.launch(account)) }
                try await look()
            }
        }
        running = [nil, nil]
    }

    /// A place for an app, running or not.
    func slot() -> Int { running[1] == nil ? 0 : .random(in: 0...1, using: &random) }

    /// The place of an app that runs, which is started where none does; nil where none starts.
    func live() async throws -> Int? {
        let places = running.indices.filter { running[$0] != nil }
        if let slot = places.randomElement(using: &random) { return slot }
        try await start(0)
        return running[0] == nil ? nil : 0
    }

    func onRunning(_ what: String, _ act: (AppProtection) async -> Void) async throws {
        guard let slot = try await live(), let app = running[slot] else { return }
        await act(app.protection)
        trace.append("\(what) \(slot)")
        try await noteSignals(of: slot)
    }

    func visitor() -> GateVisitor {
        let isOwner = Int.random(in: 0..<10, using: &random) < 6
        return GateVisitor.allCases.filter { $0.isOwner == isOwner }.randomElement(using: &random) ?? .owner
    }

    // MARK: The app

    /// Ends an app. Its timers live on here, and say of an open gate that its person is there.
    func end(_ slot: Int) {
        running[slot]?.protection.gate.leftFront()
        running[slot] = nil
    }

    func start(_ slot: Int) async throws {
        end(slot)
        do {
            let protection = try await house.start { configuration in
                if reach == .home || reach == .nothing { configuration.stateCounter = counter }
                configuration.pinObserver = { [signals] in signals.note($0) }
                configuration.wipeHook = { [signals] _ in
                    signals.noteWipe()
                    return .leftToCordon
                }
            }
            trace.append("start \(slot): \(protection.enrolledAccounts.count) enrolled")
            running[slot] = Running(protection: protection, knows: model.floor)
        } catch {
            trace.append("start \(slot): \(error)")
            try judge(error)
            if !reach.isAttacked { throw broken("an app did not start") }
        }
        try await noteSignals(of: slot)
    }

    func enroll(_ slot: Int?) async throws {
        guard let slot, let app = running[slot]?.protection else { return }
        // One that fails is tried again by itself, at any time from then on.
        guard model.isOnline || reach.isAttacked else { return }
        let status = await app.enroll(house.device.account)
        await app.gate.keys.finishChanges(account)
        trace.append("enroll \(slot): \(status)")
        try await noteSignals(of: slot)
        if status == .newPolicies { try noteRules(of: slot) }
        if !reach.isAttacked, status != (model.isEnrolled ? .alreadyEnrolled : .newPolicies) {
            throw broken("enrolled with \(status)")
        }
        model.isEnrolled = status.didSucceed || model.isEnrolled
    }

    func checkIn(_ slot: Int?) async throws {
        guard let slot, let app = running[slot]?.protection else { return }
        let status = await app.checkIn(account)
        await app.gate.keys.finishChanges(account)
        trace.append("check-in \(slot): \(status)")
        try await noteSignals(of: slot)
        if status == .newPolicies { try noteRules(of: slot) }
        if !reach.isAttacked, model.isEnrolled, model.isOnline != (status == .newPolicies) {
            throw broken("checked in with \(status)")
        }
    }

    /// The newest rules are in force in an app.
    func noteRules(of slot: Int) throws {
        model.floor = model.published.count - 1
        running[slot]?.knows = model.floor
        guard let app = running[slot]?.protection, let rules = model.published.last else { return }
        for (name, action, isAllowed) in WalkRules.actions {
            let permits = Self.permits(action, app, account)
            if permits, !isAllowed(rules) { throw broken("after its newest rules an app may \(name)") }
            if !permits, isAllowed(rules), !reach.isAttacked { throw broken("an app may not \(name)") }
        }
    }

    static func permits(_ action: Action, _ app: AppProtection, _ account: AccountID) -> Bool {
        app.decision(for: Question(action, owner: .managed(account))).verdict.permits
    }

    func publish(isMild: Bool) async throws {
        let rules = WalkRules(mayPrint: isMild, maySync: isMild || .random(using: &random))
        model.published.append(rules)
        try await house.device.publish(
            [
                "printBlocked": .bool(!rules.mayPrint), "contactSyncBlocked": .bool(!rules.maySync),
                "maximumPinRetries": .integer(Int64(model.limit)),
                "appActionIfMaximumPinRetriesExceeded": .string(model.wipesAtLimit ? "wipe" : "block"),
                "periodOnlineBeforeAccessCheck": .string(model.trust > 0 ? "PT30M" : "PT0S"),
                "periodOfflineBeforeAccessCheck": .string("PT12H"),
                "periodOfflineBeforeWipeIsEnforced": .string("P90D"),
            ], asksForPIN: true)
        trace.append("publish \(model.published.count - 1): print \(rules.mayPrint), sync \(rules.maySync)")
    }

    func advance(_ seconds: Int) {
        house.clock.advance(.seconds(seconds))
        model.uptime += TimeInterval(seconds)
        trace.append("advance \(seconds)")
    }

    func write(_ slot: Int?) async throws {
        guard let slot, let app = running[slot]?.protection else { return }
        let name = Self.names.randomElement(using: &random) ?? "plan"
        writes += 1
        let text = "\(Self.marker) \(seed)-\(writes)"
        // One that fails may be there all the same.
        model.noteWritten(text, as: name)
        do {
            try await app.files.write(Data(text.utf8), as: name, of: account)
            model.current[name] = text
            trace.append("write \(slot) \(name): \(text)")
        } catch {
            trace.append("write \(slot) \(name): \(text): \(error)")
            try judge(error)
            if !reach.isAttacked, model.isEnrolled, app.gate.isOpen(for: account) { throw broken("was not written") }
        }
    }

    // MARK: Wipes

    func wipe(_ slot: Int?) async throws {
        guard let slot, let app = running[slot]?.protection else { return }
        let wasEnrolled = model.isEnrolled
        let failure = await app.failureOfWiping(account)
        trace.append("wipe \(slot): \(failure.map { "\($0)" } ?? "done")")
        try await noteSignals(of: slot)
        if failure == nil {
            await noteWiped(by: slot)
        } else if !reach.isAttacked, wasEnrolled {
            throw broken("was not wiped")
        }
    }

    /// A command of the administrator's reaches an app that is not in front.
    func command(_ kind: Command.Kind, at slot: Int?) async throws {
        guard let slot, let app = running[slot]?.protection else { return }
        // In front a PIN that is taken away would be asked for at a moment that no walk repeats.
        for other in running.compactMap({ $0 }) { await other.protection.suspend() }
        commands += 1
        let id = "c\(commands)"
        let command = Command(
            id: id, kind: kind, account: account, reason: .device, issuedAt: 0, notAfter: 9_000_000_000)
        await house.device.service.set { $0.commands = [command] }
        let status = await app.checkIn(account)
        await app.gate.keys.finishChanges(account)
        await house.device.service.set { $0.commands = [] }
        trace.append("\(kind) \(slot): \(status)")
        let wasEnrolled = model.isEnrolled
        try await noteSignals(of: slot)
        if kind == .wipe {
            let ended = await house.device.service.acknowledgements.last { $0.commandID == id }
            if ended?.phase == .succeeded {
                await noteWiped(by: slot)
            } else if !reach.isAttacked, wasEnrolled, model.isOnline {
                throw broken("was not wiped by command")
            }
        }
    }

    func noteWiped(by slot: Int) async {
        model.noteWiped()
        running[slot]?.knows = model.floor
        guard let other = running[1 - slot]?.protection else { return }
        // It sees the key's record go, unless the folder that it watches was another one.
        try? await until(within: .seconds(2)) { [account] in await !other.context.vault.isUnlocked(account) }
        // An app that goes on without its account is not in the model.
        if !reach.isAttacked { running[1 - slot] = nil }
    }
}
