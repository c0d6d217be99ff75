internal import CordonIdentity
internal import CordonProtocol
internal import CordonSignIn
internal import Foundation
internal import Logging

extension Broker {
    /// Says at once, beside the work at hand, who is on the device.
    func reportSoon() {
        guard register != nil else { return }
        nextReport = environment.now()
        Task { await self.reportWhenDue() }
    }

    /// Tells the service who is on the device: after every change, again until it was heard, and now and then.
    ///
    /// Only the newest statement is ever sent or kept: whoever left while there was no network is not named afterwards.
    func reportWhenDue() async {
        guard !isReporting, environment.now() >= nextReport else { return }
        isReporting = true
        defer { isReporting = false }
        var heard: UInt64?
        // What changed while a statement was under way is said next.
        while let register, let registration = state.registration, heard != state.session {
            let session = state.session
            do throws(SignInError) {
                let standing = try await register.report(
                    try statement(of: registration), of: registration.facts.deviceID)
                guard state.registration?.facts == registration.facts else { continue }
                if standing == .released {
                    logger.notice("the service has released the device", metadata: ["session": "\(session)"])
                    try await forgetRegistration()
                }
                heard = session
                nextReport = environment.now().addingTimeInterval(Self.seconds(configuration.reportInterval))
            } catch {
                logger.info("the service was not told who is here", metadata: ["fault": "\(error.fault.rawValue)"])
                nextReport = environment.now().addingTimeInterval(Self.seconds(configuration.revocationInterval))
                return
            }
        }
    }

    private func statement(of registration: BrokerState.RegistrationRecord) throws(SignInError) -> String {
        let since = state.account?.began ?? state.changed ?? registration.facts.since
        let statement = DeviceSessionStatement(
            deviceID: registration.facts.deviceID, session: Int64(clamping: state.session),
            account: state.account?.facts.id, since: Int64(since.timeIntervalSince1970))
        let signer = try store.deviceKey()
        do throws(ProtocolError) { return try statement.signed(by: signer) } catch {
            throw SignInError(.storage, .storeUnavailable, "the device's key could not sign")
        }
    }

    /// Ends the session, destroys the device's key and forgets the registration; repeating it is safe (SI-019, SI-027).
    func forgetRegistration() async throws(SignInError) {
        _ = try await endSession(.released)
        try store.destroyDeviceKey()
        guard state.registration != nil else { return }
        var changed = state
        changed.registration = nil
        changed.wasShared = nil
        // A device that joins anew begins with the policy it is run by.
        changed.policyVersion = configuration.policy?.version
        changed.session += 1
        changed.changed = environment.now()
        try commit(changed, telling: .registered)
        logger.notice("the device left its organisation")
    }
}
