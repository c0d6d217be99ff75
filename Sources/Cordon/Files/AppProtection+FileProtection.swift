public import CordonIdentity
internal import CordonPolicy
public import CordonVault
internal import Foundation
internal import Logging

/// The operating system's own protection of an account's files, beside the sealing.
extension AppProtection {
    /// What the system is asked for: what the account's policy says, but no more than the app's `MaxFileProtectionLevel`
    /// lets through; the strictest while the rules are not known (SDK-FP-18, SDK-ST-28).
    ///
    /// Given to the account's folder whenever rules are put in force, for the files that are made from then on. On systems
    /// without such classes it stays a value. May be called from any task.
    public nonisolated func fileProtection(of account: AccountID) -> FileProtectionLevel {
        let asked = policy(of: .managed(account))?.policy.storage.encryption.fileProtection
        return .effective(policy: asked ?? .complete, cap: settings.maximumFileProtection)
    }

    /// Asks the system for the account's level; a system that refuses leaves the files sealed as they are.
    func protectFolder(of account: AccountID) {
        do throws(VaultError) { try vault.setProtection(fileProtection(of: account), of: folder(of: account)) } catch {
            configuration.logger.warning(
                "the system refuses a file protection level", metadata: ["reason": "\(error.reason)"])
        }
    }
}

extension EncryptionLevel {
    /// The system's class for when files are readable (SRV-RS-161); as the device is set is the system's own default.
    var fileProtection: FileProtectionLevel {
        switch self {
        case .whenDeviceLocked: .complete
        case .whenDeviceLockedExceptOpenFiles: .completeUnlessOpen
        case .afterDeviceRestart, .useDeviceSettings: .completeUntilFirstUserAuthentication
        }
    }
}
