import ArgumentParser
import CordonIdentity
import CordonVault
import Foundation

/// Whose key to use, and where the keys are.
struct VaultKeysOptions: ParsableArguments {
    @Option(help: "The account that owns the file.")
    var account: String

    @Option(help: "The directory of the device's root key and the account keys; vault seal makes it when missing.")
    var keys: String

    func validate() throws {
        if account.isEmpty { throw ValidationError("--account names an account.") }
    }

    /// The account.
    var accountID: AccountID { AccountID(account) }

    /// The vault of the directory, with the account unlocked.
    ///
    /// - Parameter making: whether a missing key is made.
    func vault(making: Bool) async throws -> Vault {
        try await vaultReporting { () async throws(VaultError) in
            let vault = try Vault.ofShell(keys, making: making)
            if making {
                try await vault.createAccountKey(for: accountID)
            } else {
                try await vault.unlock(accountID)
            }
            return vault
        }
    }
}

extension Vault {
    /// The vault whose keys lie in a directory.
    ///
    /// - Parameter making: Whether a missing root key is made: a new one opens nothing that is there.
    static func ofShell(_ keys: String, making: Bool) throws(VaultError) -> Vault {
        let directory = URL(fileURLWithPath: keys)
        guard making || FileManager.default.fileExists(atPath: directory.appending(path: "root.key").path) else {
            throw VaultError(
                .keyStore, "There is no root key.", place: keys,
                hint: "Name the directory of the keys that the file was sealed with.")
        }
        return try Vault(directory: directory, keyStore: FileKeyStore(directory: directory))
    }
}

/// Runs work on the vault and says its errors as a person at a terminal reads them.
///
/// - Parameter file: What to name where an error names no place.
func vaultReporting<Value: Sendable>(
    about file: String? = nil, _ work: () async throws(VaultError) -> Value
) async throws -> Value {
    do {
        return try await work()
    } catch {
        throw CommandFailure(
            VaultError(error.code, error.reason, place: error.place ?? file, hint: error.hint))
    }
}

extension CommandFailure {
    /// The message to a person about an error of the vault.
    init(_ error: VaultError) {
        let status: ExitStatus =
            switch error.code {
            case .invalidArgument: .usage
            case .locked, .unknownAccount, .wiped, .wipePending, .inUse, .overtaken, .keyStore, .wrongKey,
                .keyExhausted:
                .refused
            case .alreadyExists, .noSpace, .sealingFailed, .readOnly, .closed: .writeFailed
            default: .badInput
            }
        self.init(status, (error.place.map { "\($0): " } ?? "") + error.reason, hint: error.hint)
    }
}
