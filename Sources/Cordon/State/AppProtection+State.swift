internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import Foundation
internal import Logging

/// What several processes, a restored copy of the data folder, and a clock that goes back do to the stored state.
extension AppProtection {
    /// Changes what is remembered, durably.
    func changeLife(_ edit: (inout LifeRecord) -> Void) throws(ProtectionError) {
        life = try lifeStore.change(edit)
    }

    /// Seals what a version before has stored plain; what cannot be sealed now is tried again at the next start, and plain
    /// files are taken until then.
    func sealPlainState(_ stored: RegistrationStore.Contents) {
        do throws(ProtectionError) {
            for record in stored.plain { try registrations.sealPlain(record.account.id) }
            try lifeStore.sealPlain()
            seal.settle()
            if !stored.records.isEmpty { seal.noteSealed() }
        } catch {
            configuration.logger.error("stored state could not be sealed", metadata: ["reason": "\(error.reason)"])
        }
    }

    /// Takes up what another process of the app has stored or removed meanwhile.
    func syncWithDisk() async {
        // What cannot be told changes nothing: the next look will know.
        guard let stored = try? registrations.load(), let life = try? lifeStore.load().record,
            let wiped = try? wipes.unfinishedAccounts()
        else { return }
        self.life = life
        if stored.damaged > 0 { setAside("\(stored.damaged) stored registrations could not be read") }
        let present = stored.records.filter { !wiped.contains($0.account.id) }
        // Who is enrolled while this waits is not among them, and stays.
        let known = records.keys
        for record in present where (records[record.account.id]?.generation ?? -1) < record.generation {
            let isNews = records[record.account.id]?.envelope != record.envelope
            records[record.account.id] = record
            if isNews { await takeUp(record) }
        }
        for account in known where !present.contains(where: { $0.account.id == account }) {
            await forget(account)
        }
    }

    /// Notes how new the stored record is, outside the data folder.
    func noteGeneration(of record: RegistrationRecord) {
        do {
            try configuration.stateCounter?.raise(FolderName.of(record.account.id), to: record.generation)
        } catch {
            configuration.logger.error("the state counter could not be raised")
        }
    }

    /// How new the newest record of an account was, 0 where nobody knows.
    func newestGeneration(of account: AccountID) -> Int64 {
        (try? configuration.stateCounter?.value(of: FolderName.of(account))) ?? 0
    }

    /// Whether a record is older than the newest that was ever stored of its account; a counter that cannot be read says
    /// so too.
    func isRolledBack(_ record: RegistrationRecord) -> Bool {
        guard let counter = configuration.stateCounter else { return false }
        do {
            return try record.generation < counter.value(of: FolderName.of(record.account.id))
        } catch {
            configuration.logger.error("the state counter could not be read")
            return true
        }
    }

    /// Whether an account's rules are ones that nobody can read.
    func isDenyingEverything(_ account: AccountID) -> Bool {
        if case .unreadable? = rules.withLock({ $0[account]?.rules }) { true } else { false }
    }

    /// Keeps the latest moment, and tells once of a clock that was turned back.
    func noteClock() {
        let isTurnedBack = watch.read().turnedBack > 0
        if isTurnedBack, !wasTurnedBack { broadcast.post(.clockTurnedBack) }
        wasTurnedBack = isTurnedBack
        let latest = watch.latestMoment
        // A minute is exact enough, and spares the disk.
        if latest.timeIntervalSince(life.latestMoment) >= 60 { try? changeLife { $0.latestMoment = latest } }
    }

    /// The service has answered: times count from now on, and it knows of the refusals and outcomes that it was told.
    func noteContact(reporting refusals: [RefusedEnvelope], _ outcomes: [LifeRecord.Outcome]) {
        watch.trustClock()
        wasTurnedBack = false
        let latest = watch.latestMoment
        try? changeLife { life in
            life.latestMoment = latest
            life.refusals.removeAll { refusals.contains($0) }
            life.outcomes?.removeAll { outcomes.contains($0) }
        }
    }
}
