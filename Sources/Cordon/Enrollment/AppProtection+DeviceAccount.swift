internal import CordonBase
public import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Logging

/// The account that the device itself is enrolled for, as its management says (SDK-EN-29).
extension AppProtection {
    /// Asks the device's management, and remembers its answer. One that does not answer in time has the last one stand.
    ///
    /// Cordon asks at the start, at ``resume(_:)`` and before an enrolment as well. An answer that differs from the last one
    /// is posted as ``ProtectionEvent/deviceAccountChanged(_:)``, and every enrolled account that contradicts it gets a report
    /// with ``EnrollmentStatus/deviceManagedForAnotherAccount``: the app removes that account (SDK-EN-22).
    /// - Returns: The account, nil where the device is not managed or its management names nobody.
    @discardableResult
    public func deviceAccount() async -> AccountID? {
        guard let ask = configuration.askDeviceAccount else {
            noteDeviceAccount(configuration.statedDeviceAccount)
            return accounts.deviceAccount
        }
        deviceAccountAsks.begun += 1
        let number = deviceAccountAsks.begun
        let answer = await Deadline.answer(within: ServiceClient.timeout, by: configuration.clock) { await ask() }
        // An answer that was overtaken by a later one says nothing any more.
        if let answer, number > deviceAccountAsks.answered {
            deviceAccountAsks.answered = number
            noteDeviceAccount(answer)
        }
        return accounts.deviceAccount
    }

    /// The last answer of the device's management, also that of an earlier run of the app, without waiting; it is asked again
    /// meanwhile.
    public func lastDeviceAccount() -> AccountID? {
        followDeviceAccount()
        return accounts.deviceAccount
    }

    /// Takes up what an earlier run of the app was told, and asks again.
    func recallDeviceAccount() {
        accounts.setDeviceAccount(pending.deviceAccount)
        followDeviceAccount()
    }

    /// Asks without anybody waiting for the answer.
    func followDeviceAccount() {
        guard configuration.askDeviceAccount != nil else { return noteDeviceAccount(configuration.statedDeviceAccount) }
        Task { await self.deviceAccount() }
    }

    private func noteDeviceAccount(_ account: AccountID?) {
        guard account != accounts.deviceAccount else { return }
        accounts.setDeviceAccount(account)
        guard !configuration.isExtension else { return }
        do { try pending.change { $0.deviceAccount = account } } catch {
            configuration.logger.error("what the device's management says could not be remembered")
        }
        broadcast.post(.deviceAccountChanged(account))
        guard let account else { return }
        for enrolled in records.keys where enrolled != resolved(account) {
            context.publish(Outcome(.deviceManagedForAnotherAccount), .checkIn, of: enrolled)
        }
    }
}

extension ProtectionConfiguration {
    /// The key under which a device's management names the account in an app's configuration, by the field's spelling and by
    /// Cordon's own.
    private static let accountKeys = ["IntuneMAMOID", "CordonUserID"]

    /// The account that the configuration itself names for the device.
    var statedDeviceAccount: AccountID? {
        if let stated = expectedAccounts.deviceEnrollment { return stated }
        let named = Self.accountKeys.lazy.compactMap { managedConfiguration[$0]?.string }.first { !$0.isEmpty }
        return named.map { AccountID($0) }
    }
}
