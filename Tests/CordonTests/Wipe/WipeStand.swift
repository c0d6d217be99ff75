import Cordon
import CordonIdentity
import CordonProtocol
import Foundation

extension Device {
    /// The files in a folder of the app's data, by name.
    func files(in folder: String) -> [String] {
        let place = self.folder.appending(path: "data").appending(path: folder)
        return ((try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []).sorted()
    }

    /// The accounts' keys on disk.
    var keys: [String] { files(in: "vault/keys") }

    /// The receipts that the service has, in order.
    func receipts() async throws -> [WipeReceipt] {
        try await service.acknowledgements.compactMap(\.receipt)
            .map { try WipeReceipt(verifying: $0, signedBy: sessions.publicKey) }
    }
}

extension Command {
    /// An administrator's command to remove an account.
    static func wipe(_ account: AccountID = "oid-a") -> Command {
        Command(id: "c1", kind: .wipe, account: account, reason: .device, issuedAt: 0, notAfter: 9_000_000_000)
    }
}

extension AppProtection {
    /// How a wipe ended: nil when everything is removed.
    func failureOfWiping(_ account: AccountID) async -> ProtectionError.Code? {
        do throws(ProtectionError) {
            try await wipe(account)
            return nil
        } catch { return error.code }
    }
}
