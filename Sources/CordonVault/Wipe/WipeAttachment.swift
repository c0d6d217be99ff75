public import CordonIdentity
public import Foundation

/// How an app's own part of a wipe ended (SDK-SW-01, SDK-SW-02, CQ-05).
public enum WipeHookOutcome: Sendable, Equatable {
    /// All of the account's data in the app is gone.
    case done
    /// The app leaves the account's files to Cordon, which then looks for them again.
    case leaveFilesToCordon
    /// The app could not finish; the report is incomplete and says why, without file names.
    case failed(String)
}

/// A further step of every wipe: paths to remove, or the app's own code.
///
/// Attach it again at each start, before ``Vault/resumeWipes(observer:)``. It may run twice if the process was killed in
/// between, so it must cope with finding its work done.
public struct WipeAttachment: Sendable {
    enum Action: Sendable {
        case remove(@Sendable (AccountID) -> [URL])
        case run(@Sendable (AccountID) async -> WipeHookOutcome)
    }

    /// Names the step in journal and report; attaching the same name again replaces it.
    public let name: String
    let action: Action

    /// Removes files and whole directories of the account.
    public static func remove(_ name: String, paths: @escaping @Sendable (AccountID) -> [URL]) -> WipeAttachment {
        WipeAttachment(name: name, action: .remove(paths))
    }

    /// Runs the app's own code and waits for its answer, however long it takes.
    public static func run(
        _ name: String, _ hook: @escaping @Sendable (AccountID) async -> WipeHookOutcome
    ) -> WipeAttachment {
        WipeAttachment(name: name, action: .run(hook))
    }
}
