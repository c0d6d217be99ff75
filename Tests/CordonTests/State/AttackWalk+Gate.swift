import CordonBase
import CordonIdentity
import CordonPolicy
import Foundation

@testable import Cordon

/// Who passes the gate on a walk, and what has to hold after each step.
extension AttackWalk {
    // MARK: The gate

    func changePIN(_ slot: Int?) async throws {
        guard let slot, let app = running[slot]?.protection else { return }
        let visitor = visitor()
        let wasOpen = app.gate.isOpen(for: account)
        let isSure =
            !reach.isAttacked && wasOpen && model.isOnline && model.isEnrolled && visitor == .owner
            && signals.now.tried < min(3, model.limit)
        var change = PINChange.kept
        try await pass(slot, as: visitor, "change PIN", wasOpen: wasOpen) { [account] in
            change = await $0.gate.changePIN(of: account)
            return "\(change)"
        }
        if isSure, change != .changed { throw broken("the owner did not change the PIN") }
        if reach.counts, !visitor.isOwner, change == .changed { throw broken("\(visitor) changed the PIN") }
    }

    /// Somebody passes the gate of an app, or tries.
    ///
    /// - Parameter wasOpen: Whether an open gate needs no one to show anything.
    func pass(
        _ slot: Int?, as visitor: GateVisitor, _ what: String, wasOpen: Bool = false,
        _ act: (AppProtection) async -> String
    ) async throws {
        guard let slot, let app = running[slot]?.protection else { return }
        // Who is using the other app is there.
        let isThere = running.compactMap { $0?.protection }.contains { $0 !== app && $0.gate.isOpen(for: account) }
        let before = (signals: signals.now, hadPIN: model.hadPIN, isTrusted: model.trustsPerson || isThere)
        let new = newPIN()
        await prepare(visitor, new)
        let told = await act(app)
        await app.gate.keys.finishChanges(account)
        let asked = await leave()
        let after = signals.now
        let isOpen = app.gate.isOpen(for: account)
        trace.append("\(what) \(slot) by \(visitor): \(told), \(isOpen ? "open" : "closed")")
        let wasEnrolled = model.isEnrolled
        let hasMade = after.made > before.signals.made
        let isKnown = after.right > before.signals.right
        if hasMade { model.notePIN(new) }
        if hasMade || isKnown { model.lastPresence = model.uptime }
        try await noteSignals(of: slot)

        let hasSignedIn =
            visitor.signsIn && asked.contains { if case .signIn = $0 { true } else { false } }
        if reach.counts {
            if isKnown, !visitor.isOwner { throw broken("a PIN that is not the present one was right") }
            let isAnswered = isKnown || hasSignedIn || hasMade && !before.hadPIN
            if isOpen, !isAnswered, !before.isTrusted, !wasOpen { throw broken("the gate opened by itself") }
            if isOpen, !wasOpen, !model.isInTouch { throw broken("the gate opened too long after the last contact") }
        }
        // Where no guess waits for its pause, the owner comes in as long as the service answers.
        let tried = before.signals.tried
        let isWelcome =
            visitor == .owner && model.isOnline && wasEnrolled
            && (tried < min(3, model.limit) || tried >= model.limit && !model.wipesAtLimit)
        if !reach.isAttacked, isWelcome, what == "launch", !isOpen { throw broken("the owner was kept out") }
    }

    func prepare(_ visitor: GateVisitor, _ new: String) async {
        let wrong = (0..<Int.random(in: 1...model.limit + 1, using: &random)).map { _ in newPIN() }
        let pins: [PINAnswer] =
            switch visitor {
            case .owner, .ownerOfPIN: model.pin.map { [.entered($0)] } ?? []
            case .forgetful: [.forgotten]
            case .stranger: wrong.map { .entered($0) }
            case .insider: (model.formerPINs.isEmpty ? wrong : model.formerPINs.suffix(3)).map { .entered($0) }
            }
        let signIns: [SignInAnswer] = visitor.signsIn ? Array(repeating: .signedIn(account), count: 4) : []
        await house.person.set { person in
            person.forgetAsked()
            person.pins = pins + [.cancelled]
            person.signIns = signIns + [.cancelled]
            person.newPINs = [.chosen(new), .cancelled]
        }
    }

    /// Nobody is at the device any more: what an app asks by itself until the next visitor comes is asked of no one.
    ///
    /// - Returns: What the visitor was asked.
    private func leave() async -> [ScriptedPerson.Asked] {
        let asked = await house.person.asked
        await house.person.set { person in
            (person.pins, person.signIns, person.newPINs) = ([.cancelled], [.cancelled], [.cancelled])
        }
        return asked
    }

    /// Eight digits, so that none are in a text by accident.
    func newPIN() -> String { String(Int.random(in: 10_000_000...99_999_999, using: &random)) }

    static func told(_ outcome: LaunchOutcome) -> String {
        let steps = outcome.steps.map { "\($0.kind) \($0.answer)" }.joined(separator: ", ")
        return "\(outcome.result) [\(steps)]"
    }

    // MARK: What has to hold

    /// Notes whether the service was reached, and what an app has done at the PIN and in wipes.
    func noteSignals(of slot: Int) async throws {
        let service = house.device.service
        let reached = await service.checkIns.count + service.registered.count
        if reached > contacts {
            contacts = reached
            model.lastContact = model.uptime
            // What was enrolled anew meanwhile is so by the newest rules.
            let newest = model.published.count - 1
            model.floor = min(model.floor, newest)
            for place in running.indices {
                let known = running[place]?.knows ?? newest
                running[place]?.knows = min(known, newest)
            }
        }
        let now = signals.now
        if now.wiped > wipes {
            wipes = now.wiped
            // An app's own part comes when the keys are gone, whatever becomes of the rest.
            await noteWiped(by: slot)
        }
        if reach.counts, now.most > model.limit { throw broken("\(now.most) guesses were tried") }
    }

    func look() async throws {
        for (slot, app) in running.enumerated() {
            guard let app else { continue }
            try await look(at: app.protection, in: slot)
            guard reach.counts else { continue }
            for (name, action, isAllowed) in WalkRules.actions
            where Self.permits(action, app.protection, account) && !model.mayAllow(isAllowed, since: app.knows) {
                throw broken("\(slot) may \(name) by rules that are older than what it knows")
            }
        }
        let isThere = running.compactMap { $0?.protection }.contains { $0.gate.isOpen(for: account) }
        if isThere { model.lastPresence = model.uptime }
        let found = try HomeAttacker.files(in: house.device.folder)
            .filter { file in !["data/", "keys/"].contains { file.key.hasPrefix($0) } }
        let expected = Dictionary(uniqueKeysWithValues: outside.map { ("outside/" + $0.key, $0.value) })
        if found != expected { throw broken("outside of the home there is \(found.keys.sorted())") }
    }

    func look(at app: AppProtection, in slot: Int) async throws {
        let isOpen = app.gate.isOpen(for: account)
        for name in Self.names {
            let text: String
            do { text = String(decoding: try await app.files.read(name, of: account), as: UTF8.self) } catch {
                try judge(error)
                guard !reach.isAttacked, isOpen, model.isEnrolled else { continue }
                guard error.code == .nothingThere, model.current[name] == nil else {
                    throw broken("\(slot) does not read \(name): \(error)")
                }
                continue
            }
            if !isOpen { throw broken("\(slot) reads \(name) behind a closed gate") }
            let known = reach.keepsKeys ? model.live[name] : model.ever[name]
            guard known?.contains(text) == true else { throw broken("\(slot) reads \(name) as “\(text)”") }
            if !reach.isAttacked, text != model.current[name] { throw broken("\(slot) reads \(name) as “\(text)”") }
        }
    }

    /// Errors are Cordon's own, and say nothing of a PIN or of what is in a file.
    func judge(_ error: any Error) throws {
        let text = "\(error)"
        guard error is ProtectionError else { throw broken("unexpected: \(text)") }
        let secrets = [Self.marker] + model.formerPINs + [model.pin].compactMap { $0 }
        if secrets.contains(where: { text.contains($0) }) { throw broken("an error tells: \(text)") }
    }

    func broken(_ what: String) -> Broken { Broken(description: story(of: what)) }

    func story(of what: String) -> String {
        let steps = trace.enumerated().map { "  \($0.offset). \($0.element)" }.joined(separator: "\n")
        return "\(what)\nseed \(seed), \(reach.rawValue) in reach, after:\n\(steps)"
    }
}
