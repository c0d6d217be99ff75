internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import CordonSignIn
internal import Foundation
internal import Logging

/// Wipes that a crash or a failure interrupted.
extension AppProtection {
    /// Takes up at the start what an earlier run of the app could not finish; receipts are handed in by a courier, so that
    /// nobody waits for the network. A wipe that fails again keeps its account closed, and nothing else.
    ///
    /// - Returns: How many wipes could not be read. Whose they were is not known, so everything stays closed until the
    ///   service, which waits for the receipt, has sent them again.
    /// - Throws: ``ProtectionError`` with code `stateUnreadable` when it cannot be told what is unfinished.
    func resumeWipesAtStart() async throws(ProtectionError) -> Int {
        let (records, damaged) = try wipes.load()
        if !damaged.isEmpty { context.publishSetAside("\(damaged.count) unfinished wipes could not be read") }
        if !records.isEmpty {
            await resumeWipes()
            Task { await self.deliverReceipts() }
        }
        return damaged.count
    }

    /// Carries every unfinished wipe on that nobody is at.
    func resumeWipes() async {
        for wipe in (try? wipes.load().records) ?? [] where wipe.stage != .forgotten {
            let account = wipe.registration.account.id
            do throws(ProtectionError) {
                guard let lock = try StateLock.take(wipes.lock(of: account)) else { continue }
                defer { lock.end() }
                // Another process may have carried it on in the meantime.
                guard let left = try wipes.unfinished(of: account) else { continue }
                tellFinished(try await finish(left))
            } catch {
                configuration.logger.error("a wipe is not finished yet", metadata: ["reason": "\(error.reason)"])
            }
        }
    }

    /// Puts wipes away that cannot be read, once the service has told every account what is to be done.
    func putDamagedWipesAside() {
        guard !records.keys.contains(where: { accounts.isUnreadable($0) }) else { return }
        for file in (try? wipes.load().damaged) ?? [] { file.setAside() }
    }

}
