internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import CordonSignIn
internal import Foundation
internal import Logging

extension Broker {
    /// Says at once, beside the work at hand, who is on the device.
    func reportSoon() {
        guard register != nil else { return }
        reports.hurry(environment.now())
        Task { await self.reportWhenDue() }
    }

    /// Tells the service who is on the device: after every change, again until it was heard, and now and then.
    ///
    /// Only the newest statement is ever sent or kept: a person who left while there was no network is not named afterwards.
    func reportWhenDue() async {
        guard reports.isDue(look()), reports.begin() else { return }
        defer { reports.end() }
        var heard: UInt64?
        var hasCaughtUp = false
        // What changed or was asked for while a statement was under way is said next.
        while let register, let registration = state.registration, heard != state.session || reports.isWantedAgain {
            reports.beginRound()
            let session = state.session
            let signedIn = state.account?.facts.session
            do {
                let registered = try await register.report(
                    try statement(of: registration), of: registration.facts.deviceID)
                guard state.registration?.facts == registration.facts else { continue }
                switch registered {
                case .released:
                    logger.notice("the service has released the device", metadata: ["session": "\(session)"])
                    try await forgetRegistration()
                case .ended:
                    // Who signed in once more meanwhile may have given credentials after all this; the next statement says when.
                    guard state.session == session, state.account?.facts.session == signedIn else { continue }
                    logger.notice("the person's sessions were revoked", metadata: ["session": "\(session)"])
                    _ = await endSession(.revoked)
                case .behind(let newest) where !hasCaughtUp:
                    guard state.session == session else { continue }
                    logger.error("this device runs on an older copy of its folder", metadata: ["session": "\(session)"])
                    await endEverySession(.interrupted)
                    try countOn(from: newest)
                    hasCaughtUp = true
                    continue
                // Told twice in a row that the device is behind, the service is not believed to know.
                case .registered, .behind: break
                }
                heard = session
                reportFault = nil
                reports.put(off: environment.now(), by: configuration.reportInterval)
            } catch {
                reportFault = error.fault
                logger.info("the service was not told who is here", metadata: ["fault": "\(error.fault.rawValue)"])
                reports.put(off: environment.now(), by: configuration.revocationInterval)
                return
            }
        }
    }

    /// Numbers the next session above every one that was in force before the folder was put back.
    private func countOn(from newest: UInt64) throws(SignInError) {
        var changed = state
        // No device counts that far.
        changed.session = max(state.session, min(newest, 1 << 62)) + 1
        changed.changed = environment.now()
        try commit(changed, telling: .accountChanged)
    }

    private func statement(of registration: BrokerState.RegistrationRecord) throws(SignInError) -> String {
        let now = look()
        let since = state.account?.began ?? state.changed ?? registration.facts.since
        let statement = DeviceSessionStatement(
            deviceID: registration.facts.deviceID, session: Int64(clamping: state.session),
            account: state.account?.facts.id, since: Int64(since.timeIntervalSince1970),
            age: state.account.map { account in
                max(0, Int64(now.timeIntervalSince(account.authenticated ?? account.began)))
            }, apps: apps(), issued: Int64(now.timeIntervalSince1970),
            nonce: Base64URL.encode(environment.randomBytes(16)))
        guard let signer = try store.deviceKey(registration.facts.keyThumbprint) else {
            throw SignInError(.storage, .storeDamaged, "the device's key is gone", hint: "Start the broker anew.")
        }
        do { return try statement.signed(by: signer) } catch {
            throw SignInError(.storage, .storeUnavailable, "the device's key could not sign")
        }
    }

    /// The most apps that the service is told of.
    private static let mostApps = 200

    /// The apps of the list, and how far each takes part (SI-157); in development every app that came.
    private func apps() -> [SharedDeviceApp] {
        let used = Set(state.apps.values.map(\.name))
        let listed = configuration.apps.map { app in
            SharedDeviceApp(
                name: app.name, bundleID: app.bundleID,
                support: used.contains(app.name)
                    ? .used : FileManager.default.fileExists(atPath: app.path) ? .installed : .absent)
        }
        let others = used.subtracting(configuration.apps.map(\.name)).sorted().map {
            SharedDeviceApp(name: $0, bundleID: nil, support: .used)
        }
        return Array((listed + others).prefix(Self.mostApps))
    }

    /// A renewal that the provider refuses may mean that the person's sessions were revoked: the service is asked at once,
    /// and only once for each sign-in, instead of at the next time anyway (SI-182).
    func askAfterRefusal(of account: BrokerState.AccountRecord) {
        guard askedAbout != account.facts.session else { return }
        askedAbout = account.facts.session
        reportSoon()
    }

    /// Ends the session, and removes what is left of it and of those before.
    ///
    /// - Throws: ``SignInError`` with code `storage` while part of a session cannot be removed, since nothing would retry once the device has left.
    func endForGood() async throws(SignInError) {
        repeat {
            await endEverySession(.released)
            try await removeLeft()
        } while state.account != nil
    }

    /// Ends the session, destroys the device's key and forgets the registration; repeating it is safe (SI-019, SI-027).
    ///
    /// A device without its key has left, whatever its state says: what a kill cuts short here the next start finishes, and a state that the disk
    /// does not take is written as soon as it does.
    ///
    /// - Throws: ``SignInError`` with code `storage`, as ``endForGood()``, or while the device's key cannot be destroyed.
    func forgetRegistration() async throws(SignInError) {
        let leaving = state.registration
        try await endForGood()
        // While apps were waited for, another call may have finished this, and the device may even have joined anew.
        guard state.registration == leaving else { return }
        try store.destroyDeviceKey()
        guard leaving != nil else { return }
        var changed = state
        changed.registration = nil
        changed.wasShared = nil
        // A device that joins again begins with the policy it is run by.
        changed.policyVersion = configuration.policy?.version
        changed.session += 1
        changed.changed = environment.now()
        do { try keeper.commit(changed) } catch {
            logger.error("that the device left could not be written down", metadata: ["reason": "\(error.reason)"])
            keeper.changeLazily(changed)
        }
        post(.registered)
        logger.notice("the device left its organisation")
    }
}
