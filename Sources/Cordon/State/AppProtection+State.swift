internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import Foundation
internal import Logging

/// What several processes, a restored copy of the data folder, and a clock that goes back do to the stored state.
extension AppProtection {
    /// Seals what a version before has stored plain; what cannot be sealed now is tried again at the next start, and plain
    /// files are taken until then.
    func sealPlainState(_ stored: RegistrationStore.Contents) {
        do throws(ProtectionError) {
            for record in stored.plain { try accounts.sealPlain(record.account.id) }
            try pending.sealPlain()
            seal.settle()
            if !stored.records.isEmpty { seal.noteSealed() }
        } catch {
            configuration.logger.error("stored state could not be sealed", metadata: ["reason": "\(error.reason)"])
        }
    }

    /// Takes up what another process of the app has stored or removed meanwhile.
    func syncWithDisk() async {
        // What cannot be told changes nothing: the next look will know.
        guard let stored = try? accounts.load(), (try? pending.load()) != nil,
            let wiped = try? wipes.unfinishedAccounts()
        else { return }
        if stored.damaged > 0 { context.publishSetAside("\(stored.damaged) stored registrations could not be read") }
        let present = stored.records.filter { !wiped.contains($0.account.id) }
        // Who is enrolled while this waits is not among them, and stays.
        let known = records.keys
        for record in present where (records[record.account.id]?.generation ?? -1) < record.generation {
            let isNews = records[record.account.id]?.envelope != record.envelope
            accounts.put(record)
            if isNews { await restore(record) }
        }
        for account in known where !present.contains(where: { $0.account.id == account }) {
            await forget(account)
        }
    }

    /// Keeps the latest moment, and tells once of a clock that was turned back.
    func noteClock() {
        let isTurnedBack = clock.read().turnedBack > 0
        if isTurnedBack, !wasTurnedBack { broadcast.post(.clockTurnedBack) }
        wasTurnedBack = isTurnedBack
        let latest = clock.latestMoment
        // A minute is exact enough, and spares the disk.
        if latest.timeIntervalSince(pending.latestMoment) >= 60 { try? pending.change { $0.latestMoment = latest } }
    }

    /// The service has answered: times count from now on, and it knows of the refusals and outcomes that it was told.
    func noteContact(reporting refusals: [RefusedEnvelope], _ outcomes: [PendingWork.Outcome]) {
        clock.trustClock()
        wasTurnedBack = false
        let latest = clock.latestMoment
        try? pending.change { work in
            work.latestMoment = latest
            work.refusals.removeAll { refusals.contains($0) }
            work.outcomes?.removeAll { outcomes.contains($0) }
        }
    }
}
