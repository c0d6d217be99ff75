internal import CordonBase
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
    var clock: ProtectionClock
    let cost: PINCost
    /// Told of every step of a check; a test kills the process there.
    let observer: @Sendable (String) -> Void
    /// Whether the organisation's apps share the folder.
    var isShared = false
    /// The most memory that a check may take in this process, in bytes; nil for as much as there is.
    var memoryLimit: Int?
    /// Whether an account's data is not being removed, and was not.
    var isStaying: @Sendable (AccountID) -> Bool = { _ in true }
    /// How long another process may take over the account's PIN: longer than the dearest change. One that was stopped in the middle must not
    /// keep the person at a gate that says nothing.
    var patience = Duration.seconds(30)

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

    /// A PIN that the person has entered or made.
    struct Known {
        /// What it opens.
        let key: PINKey
        /// Tells it from every other PIN, and from the same one made anew.
        let verifier: PINVerifier
    }

    /// What a new PIN may take the place of.
    enum Place {
        /// Whatever there is: the person has just signed in.
        case any
        /// That PIN, which the person knows.
        case of(PINVerifier)
        /// None: the account has had no PIN yet.
        case empty
    }

    /// Checks a guess. With the last wrong one the PIN's key ends, in every copy.
    ///
    /// - Parameter limit: Guesses in a row that a policy allows.
    /// - Returns: How it ended, and the PIN after a right guess.
    /// - Throws: ``ProtectionError`` when the counter cannot be read or kept: then nothing is tried.
    func guess(
        _ pin: String, of account: AccountID, limit: Int
    ) async throws(ProtectionError) -> (check: Check, pin: Known?) {
        let state = state(of: account)
        let lock = try await lock(account)
        defer { withExtendedLifetime(lock) {} }
        var found = try state.look()
        guard case .value(var record) = found.contents, var verifier = record.verifier else {
            return (.noPIN, nil)
        }
        observer("read")
        try requireMemory(for: verifier)
        let secrets = try secrets(of: account)
        guard record.failed < limit else {
            try secrets.destroy(record.key?.id)
            return (.exhausted, nil)
        }
        let now = ClockReading(clock)
        let pause = Self.pause(after: Int(record.failed))
        if let last = record.lastGuess, pause > .zero {
            guard last.tells(of: now) else {
                // How long ago it was cannot be told, so the pause is waited from here.
                record.lastGuess = now
                try state.write(record, over: found)
                return (.tooSoon(pause), nil)
            }
            let wait = pause - last.atLeast(until: now)
            if wait > .zero { return (.tooSoon(wait), nil) }
        }
        record.failed += 1
        record.lastGuess = now
        observer("count")
        // The lock may have been taken away, and copies of the folder share the counter alone: of all who have read this number of
        // guesses, one raises it.
        found = try state.write(record, over: found)
        observer("counted")
        let key = try state.key("verify")
        observer("derive")
        guard var derived = try verifier.derived(from: pin, key: key) else {
            if record.failed >= limit { try secrets.destroy(record.key?.id) }
            observer("refused")
            return (.wrong(left: limit - Int(record.failed)), nil)
        }
        observer("recognised")
        let known = try record.key.flatMap { (sealed) throws(ProtectionError) in
            try sealed.opened(under: derived, in: secrets)
        }
        // See ``hasEnded(_:of:)``.
        guard known != nil || record.key == nil else {
            record.end()
            try state.write(record, over: found)
            return (.noPIN, nil)
        }
        let pinKey = known ?? SymmetricKey(size: .bits256)
        record.failed = 0
        record.lastGuess = nil
        let entered = ClockReading(clock)
        record.entered = entered
        record.note(entered)
        // Only a process with room for any cost makes it another one.
        let isOfCost = verifier.isOf(cost) || memoryLimit != nil
        if !isOfCost {
            (verifier, derived) = try PINVerifier.make(pin, cost: cost, key: key)
            record.verifier = verifier
        }
        let isNamed = record.key.map { SealedPINKey.ids.contains($0.id) } ?? false
        if !isNamed || !isOfCost {
            try? secrets.destroy(record.endedKey)
            record.endedKey = record.key?.id
            record.key = try SealedPINKey.make(pinKey, under: derived, in: secrets, besides: record.endedKey)
        }
        try state.write(record, over: found)
        try? secrets.destroy(record.endedKey)
        observer("cleared")
        return (.right, Known(key: pinKey, verifier: verifier))
    }

    /// Makes a PIN the account's.
    ///
    /// - Parameters:
    ///   - place: What the person may replace. Another process may have changed the PIN or taken it away while the person chose.
    ///   - kept: The key that the PIN before has opened, for a person who knew that one; nil makes a new key, and what hangs on the former
    ///     one needs another way in.
    /// - Returns: What is wrong with it, empty when it was kept; and the PIN.
    /// - Throws: ``ProtectionError`` when it cannot be kept, or something else stands in its place.
    func make(
        _ pin: String, of account: AccountID, requirements: PINRequirements, inPlace place: Place,
        keeping kept: PINKey? = nil
    ) async throws(ProtectionError) -> (problems: [PINRequirements.Problem], pin: Known?) {
        let state = state(of: account)
        let lock = try await lock(account)
        defer { withExtendedLifetime(lock) {} }
        let found = try state.look()
        guard place.holds(found.contents) else {
            throw ProtectionError(
                .stateUnwritable, "the PIN was changed or taken away meanwhile", hint: "Open the account again.")
        }
        let ended = found.value?.key?.id
        let former = found.value?.formerWithCurrent ?? []
        let key = try state.key("verify")
        var wasUsed = false
        for verifier in former.prefix(requirements.remembered) {
            try requireMemory(for: verifier)
            if try verifier.matches(pin, key: key) { wasUsed = true }
        }
        let problems = requirements.problems(with: pin, wasUsed: wasUsed)
        guard problems.isEmpty else { return (problems, nil) }
        let now = ClockReading(clock)
        let secrets = try secrets(of: account)
        let (verifier, derived) = try PINVerifier.make(pin, cost: cost, key: key)
        let pinKey = kept ?? SymmetricKey(size: .bits256)
        observer("making")
        // The ids of secrets are few: the next one may be that of a PIN which another process has made since the look.
        try state.number(since: found)
        try? secrets.destroy(found.value?.endedKey)
        let sealed = try SealedPINKey.make(pinKey, under: derived, in: secrets, besides: ended)
        observer("sealed")
        var record = PINRecord(
            verifier: verifier, key: sealed, endedKey: ended, former: former, made: now, entered: now)
        record.note(now)
        try state.write(record, over: found)
        observer("made")
        // A kill before this leaves it to the next guess. Where the former record was gone, it is one of these.
        for id in SealedPINKey.ids where id != sealed.id { try? secrets.destroy(id) }
        try? secrets.destroy(ended)
        observer("replaced")
        return ([], Known(key: pinKey, verifier: verifier))
    }

    /// Takes over the record of an account that an earlier version has stored.
    func takeOver(_ account: AccountID) async throws(ProtectionError) {
        let state = state(of: account)
        guard try state.look().isFormer else { return }
        let lock = try await StateLock.waiting(for: lockFile(account), atMost: patience)
        defer { withExtendedLifetime(lock) {} }
        try state.takeOver { record, _ in record }
    }

    /// Records that the person was there at a moment, which may be some time ago; the time away counts from there.
    ///
    /// - Parameter period: After what time the rules ask for the PIN under which the person was let in.
    /// - Throws: ``ProtectionError`` when that cannot be kept.
    func recordActivity(
        of account: AccountID, at moment: ClockReading, askedAfter period: Duration
    ) async throws(ProtectionError) {
        let state = state(of: account)
        // No lock, and so no file, for an account that has no PIN.
        if case .absent = try state.read() { return }
        let lock = try await lock(account)
        defer { withExtendedLifetime(lock) {} }
        let found = try state.look()
        guard case .value(var record) = found.contents else { return }
        record.note(moment, askedAfter: period)
        try state.write(record, over: found)
    }

    /// Takes a PIN away, with the guesses at it: a new one is made after a fresh sign-in.
    ///
    /// - Throws: ``ProtectionError`` when that cannot be kept.
    func takeAway(from account: AccountID) async throws(ProtectionError) {
        let state = state(of: account)
        // No lock, and so no file, for an account that has no PIN.
        if case .absent = try state.read() { return }
        let lock = try await lock(account)
        defer { withExtendedLifetime(lock) {} }
        let found = try state.look()
        observer("ending")
        try destroySecrets(of: found.value, account)
        observer("ended")
        if case .newer = found.contents {
            throw ProtectionError(
                .stateUnwritable, "a newer version of the app wrote the PIN's record", hint: "Update the app again.")
        }
        // Also in place of one that is gone or counts for nothing: the one that was counted last must not come back.
        var record = found.value ?? PINRecord(made: ClockReading(clock))
        record.end()
        try state.write(record)
    }

    /// Destroys what there is, also where one of them stays.
    ///
    /// - Parameter record: Names what older versions have made.
    private func destroySecrets(of record: PINRecord?, _ account: AccountID) throws(ProtectionError) {
        let secrets = try secrets(of: account)
        var refusal: ProtectionError?
        for id in SealedPINKey.ids + [record?.key?.id, record?.endedKey].compactMap({ $0 }) {
            do { try secrets.destroy(id) } catch { refusal = error }
        }
        if let refusal { throw refusal }
    }

    /// Whether a PIN's key has ended, so that the PIN counts no more: a kill, or a disk that takes nothing, has left its record. If the
    /// key store does not answer, the PIN counts.
    func hasEnded(_ record: PINRecord, of account: AccountID) -> Bool {
        guard let id = record.key?.id else { return false }
        do { return try secrets(of: account).secret(id) == nil } catch { return false }
    }

    /// What is kept.
    func contents(of account: AccountID) throws(ProtectionError) -> SealedState<PINRecord>.Contents {
        try state(of: account).read()
    }

    /// What is kept, for what may follow from knowledge alone; see ``SealedState/known()``.
    func known(of account: AccountID) throws(ProtectionError) -> SealedState<PINRecord>.Contents {
        try state(of: account).known()
    }

    /// Removes everything that is kept of an account. Waits for a check or a change of its PIN that is under way.
    ///
    /// - Throws: ``ProtectionError`` where a secret of the PIN, or its record, stays.
    func remove(_ account: AccountID) async throws(ProtectionError) {
        // Without a lock it goes all the same.
        let lock = try? await StateLock.waiting(for: lockFile(account), atMost: patience)
        defer { withExtendedLifetime(lock) {} }
        let state = state(of: account)
        // What cannot be read any more names nothing.
        let found = try? state.look()
        do { try destroySecrets(of: found?.value, account) } catch {
            // An account that has no PIN waits for no key store.
            guard case .absent? = found?.contents else { throw error }
        }
        try state.remove()
        try StateFile(url: lockFile(account)).remove()
    }

    /// Refuses a derivation for which an extension would be ended.
    private func requireMemory(for verifier: PINVerifier) throws(ProtectionError) {
        guard let memoryLimit, verifier.memory > memoryLimit else { return }
        throw ProtectionError(
            .stateUnwritable, "an extension has too little memory to check this PIN",
            hint: "Open the app and enter it there.")
    }

    /// How long to wait between guesses, so that a machine that types gains nothing over a person.
    static func pause(after failed: Int) -> Duration {
        failed < 3 ? .zero : min(.seconds(5 << min(failed - 3, 10)), .seconds(3600))
    }

    private func secrets(of account: AccountID) throws(ProtectionError) -> PINSecrets {
        PINSecrets(
            keyStore: seal.keyStore, naming: try state(of: account).key("secret-name"),
            app: isShared ? "" : seal.bundleID.lowercased())
    }

    private func state(of account: AccountID) -> SealedState<PINRecord> {
        SealedState(
            file: folder.file(FolderName.of(account)), purpose: "pin", seal: seal, former: .raw, isShared: isShared)
    }

    /// Waits for the lock under which an account's record is changed.
    ///
    /// - Throws: ``ProtectionError``: `wipeUnderWay` where the record was removed with the account, or is about to be.
    private func lock(_ account: AccountID) async throws(ProtectionError) -> AdvisoryLock {
        let lock = try await StateLock.waiting(for: lockFile(account), atMost: patience)
        // What apps share stays when one of them is wiped.
        guard isShared || isStaying(account) else {
            lock.end()
            throw Wipes.underWay
        }
        return lock
    }

    private func lockFile(_ account: AccountID) -> URL {
        folder.file(FolderName.of(account)).url.appendingPathExtension("lock")
    }
}

extension PINKeeper.Place {
    /// Whether a PIN that is made now has this place.
    fileprivate func holds(_ contents: SealedState<PINRecord>.Contents) -> Bool {
        switch (self, contents) {
        case (.any, _), (.empty, .absent): true
        case (.of(let known), .value(let record)): record.verifier == known
        default: false
        }
    }
}
