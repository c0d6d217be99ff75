internal import CordonBase
internal import CordonIdentity
internal import CordonVault

/// Makes and removals of files in folders happen one after another: each notes first in the folder's directory what it is about to do, and
/// looks whether the one before has done so. Tasks take turns, and processes of the app wait for the folder's lock.
struct FolderTurns: Sendable {
    private let turns = SerialTasks<AccountID>()

    /// Runs a change of a folder in its turn.
    ///
    /// - Throws: What the change throws; ``ProtectionError`` with code `stateUnwritable` where there can be no lock.
    func run<Value: Sendable>(
        in folder: SealedFolder, isolation: isolated (any Actor)? = #isolation,
        _ work: () async throws(ProtectionError) -> Value
    ) async throws(ProtectionError) -> Value {
        try await turns.run(folder.account) { () async throws(ProtectionError) -> Value in
            let lock = try await StateLock.waiting(forFolder: folder.url)
            defer { withExtendedLifetime(lock) {} }
            return try await work()
        }
    }
}
