internal import CordonIdentity
internal import CordonPolicy
internal import Crypto
internal import Foundation

/// Keeps PINs and counts guesses, so that a kill at any instant gives no free one (reliability AUTH-2).
///
/// A guess is counted durably before the derivation that could tell whether it is right. Apps of one organisation that
/// name the same folder and key store share PIN, counter and the time since it was entered (SRV-RS-042).
struct PINKeeper: Sendable {
    let folder: StateFolder
    let seal: StateSeal
    let clock: ProtectionClock
    let cost: PINCost
    /// Told of every step of a check; a test kills the process there.
    let observer: @Sendable (String) -> Void
    /// Whether the organisation's apps share the folder.
    var isShared = false

    /// How a check ended.
    enum Check: Equatable {
        /// It is the PIN.
        case right
        /// It is not; so many guesses are left.
        case wrong(left: Int)
        /// No guess is left; nothing was tried.
        case exhausted
        /// The last guess was too short a time ago; nothing was tried or counted.
        case tooSoon(Duration)
        /// There is no PIN to compare with.
        case noPIN
    }

    /// Checks a guess.
    ///
    /// - Parameter limit: Guesses in a row that a policy allows.
    /// - Throws: ``ProtectionError`` when the counter cannot be read or kept: then nothing is tried.
    func check(_ pin: String, of account: AccountID, limit: Int) async throws(ProtectionError) -> Check {
        let state = state(of: account)
        let lock = try await StateLock.waiting(for: lockFile(account))
        defer { withExtendedLifetime(lock) {} }
        guard case .value(var record) = try state.read(), let verifier = record.verifier else { return .noPIN }
        observer("read")
        guard record.failed < limit else { return .exhausted }
        let now = ClockReading(clock)
        if let last = record.lastGuess {
            let wait = Self.pause(after: record.failed) - last.atLeast(until: now)
            if wait > .zero { return .tooSoon(wait) }
        }
        record.failed += 1
        record.lastGuess = now
        observer("count")
        try state.write(record)
        observer("counted")
        let key = try state.key("verify")
        observer("derive")
        guard try verifier.matches(pin, key: key) else {
            observer("refused")
            return .wrong(left: limit - record.failed)
        }
        observer("recognised")
        record.failed = 0
        record.lastGuess = nil
        record.entered = ClockReading(clock)
        record.active = record.entered
        if !verifier.isOf(cost) { record.verifier = try PINVerifier(pin, cost: cost, key: key) }
        try state.write(record)
        observer("cleared")
        return .right
    }

    /// Makes a PIN the account's, in place of the one it has; the caller has made sure that this person may.
    ///
    /// - Returns: What is wrong with it; empty when it was kept.
    func set(
        _ pin: String, of account: AccountID, requirements: PINRequirements
    ) async throws(ProtectionError) -> [PINRequirements.Problem] {
        let state = state(of: account)
        let lock = try await StateLock.waiting(for: lockFile(account))
        defer { withExtendedLifetime(lock) {} }
        var former: [PINVerifier] = []
        if case .value(let record) = try state.read() {
            former = Array(((record.verifier.map { [$0] } ?? []) + record.former).prefix(PINRecord.formerLimit))
        }
        let key = try state.key("verify")
        var wasUsed = false
        for verifier in former.prefix(requirements.remembered) where try verifier.matches(pin, key: key) {
            wasUsed = true
        }
        let problems = requirements.problems(with: pin, wasUsed: wasUsed)
        guard problems.isEmpty else { return problems }
        let now = ClockReading(clock)
        try state.write(
            PINRecord(
                verifier: try PINVerifier(pin, cost: cost, key: key), former: former, made: now, entered: now,
                active: now))
        return []
    }

    /// Takes the record of an account over that a version before has stored.
    func takeOver(_ account: AccountID) async throws(ProtectionError) {
        let state = state(of: account)
        guard try state.look().isFormer else { return }
        let lock = try await StateLock.waiting(for: lockFile(account))
        defer { withExtendedLifetime(lock) {} }
        try state.takeOver { record, _ in record }
    }

    /// Changes what is kept, if anything is.
    func change(
        _ account: AccountID, _ change: (inout PINRecord) -> Void
    ) async throws(ProtectionError) {
        let state = state(of: account)
        // No lock, and so no file, for an account that has no PIN.
        if case .absent = try state.read() { return }
        let lock = try await StateLock.waiting(for: lockFile(account))
        defer { withExtendedLifetime(lock) {} }
        guard case .value(var record) = try state.read() else { return }
        change(&record)
        try state.write(record)
    }

    /// Records that the person was there at a moment, which may be some time ago; the time away counts from there.
    func recordActivity(of account: AccountID, at moment: ClockReading) async {
        // What cannot be kept makes the next look ask sooner, never later.
        try? await change(account) { record in
            // Another app of the organisation may have seen the person since.
            if let known = record.active, moment.boot == known.boot, moment.uptime < known.uptime { return }
            record.active = moment
        }
    }

    /// Takes a PIN away, with the guesses at it: a new one is made after a fresh sign-in.
    ///
    /// - Throws: ``ProtectionError`` when that cannot be kept.
    func takeAway(from account: AccountID) async throws(ProtectionError) {
        try await change(account) { record in
            record.verifier = nil
            record.failed = 0
        }
    }

    /// What is kept.
    func contents(of account: AccountID) throws(ProtectionError) -> SealedState<PINRecord>.Contents {
        try state(of: account).read()
    }

    /// Forgets everything of an account.
    func remove(_ account: AccountID) throws(ProtectionError) {
        try state(of: account).remove()
        try StateFile(url: lockFile(account)).remove()
    }

    /// How long to wait between guesses, so that a machine that types gains nothing over a person.
    static func pause(after failed: Int) -> Duration {
        failed < 3 ? .zero : min(.seconds(5 << min(failed - 3, 10)), .seconds(3600))
    }

    private func state(of account: AccountID) -> SealedState<PINRecord> {
        SealedState(
            file: folder.file(FolderName.of(account)), purpose: "pin", seal: seal, former: .raw, isShared: isShared)
    }

    private func lockFile(_ account: AccountID) -> URL {
        folder.file(FolderName.of(account)).url.appendingPathExtension("lock")
    }
}
