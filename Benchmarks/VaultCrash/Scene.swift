import CordonIdentity
import CordonVault
import CordonVaultSQLite
import Foundation

/// A folder with a vault, in which a child works and after whose death the parent looks.
struct Scene {
    let folder: URL
    let account: AccountID = "ada@example.test"

    init(_ folder: URL) { self.folder = folder }

    func path(_ name: String) -> URL { folder.appendingPathComponent(name) }

    /// A vault as after a start of the app.
    func vault() throws -> Vault {
        try Vault(
            directory: path("vault"), keyStore: FileKeyStore(directory: path("root")), roots: [path("documents")])
    }

    // MARK: What the child said

    /// Says that a commit is durable: one number, written over the last one in a file that is never synced, because the
    /// page cache outlives a killed process.
    func acknowledge(_ number: UInt64, in log: Int32) {
        _ = withUnsafeBytes(of: number) { pwrite(log, $0.baseAddress, 8, 0) }
    }

    func openLog() -> Int32 { open(path("acknowledged").path, O_WRONLY | O_CREAT, 0o600) }

    func acknowledged() -> UInt64? { number("acknowledged") }

    private func number(_ name: String) -> UInt64? {
        guard let bytes = try? Data(contentsOf: path(name)), bytes.count == 8 else { return nil }
        return bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    }

    /// What was found after the last kill.
    func seen() -> UInt64? { number("seen") }

    func see(_ number: UInt64) { try? withUnsafeBytes(of: number) { Data($0) }.write(to: path("seen")) }

    /// Waits until the child has said something, but not for ever.
    func awaitAcknowledgement() {
        for _ in 0..<400 where acknowledged() == nil { usleep(500) }
    }

    func forgetAcknowledged() throws { try? FileManager.default.removeItem(at: path("acknowledged")) }
}
