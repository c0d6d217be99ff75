internal import CordonIdentity
internal import Logging

/// What the service is asked of the shares that were left with it.
extension KeyGuards {
    /// The digest of the share that a registration has left; nil where it has left none, or what the service has is not known.
    func leftShare(of account: AccountID, registrationID: String) -> String? {
        guard case .value(let record)? = try? state(of: account).read(), record.registrationID == registrationID else {
            return nil
        }
        return record.left
    }

    /// The registration with which a guarded account's share was left, for another one that is about to be made.
    func formerRegistration(of account: AccountID) -> String? {
        guard case .value(let record)? = try? state(of: account).read() else { return nil }
        return record.registrationID
    }

    /// Notes that the service has no longer what was left with it: the next right PIN leaves it anew.
    func noteLostShare(_ digest: String, of account: AccountID) async {
        do {
            try await locked(account) { () async throws(ProtectionError) in
                // Another process may have left another one since.
                guard case .value(var record) = try state(of: account).read(), record.left == digest else { return }
                record.left = nil
                try state(of: account).write(record)
            }
            context.configuration.logger.warning(
                "the service has lost the share that guards a key; the next right PIN leaves it anew")
        } catch {
            context.configuration.logger.error(
                "it could not be noted that the service has lost a share",
                metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
        }
    }
}
