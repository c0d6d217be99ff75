internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

/// How far a selective wipe is, so that it ends wiped whatever instant the app dies at.
///
/// Each stage is on disk before the next begins, and each can be repeated without harm.
struct WipeRecord: Codable, Equatable, Sendable {
    /// What has been done.
    enum Stage: String, Codable, Sendable, CaseIterable {
        /// The wipe was asked for; nothing is gone yet.
        case begun
        /// The account's key, its files and everything sealed are gone.
        case vaultWiped
        /// The app has removed its own part.
        case appWiped
        /// The receipt is signed.
        case receiptSigned
        /// Session and registration are gone too; only the receipt is left to be handed in.
        case forgotten
    }

    /// The command that asked for it.
    var command: Command
    /// The registration as it was, without its rules; when everything is done, without the sign-in name too.
    var registration: RegistrationRecord
    /// When the wipe began.
    var started: Date
    /// What has been done.
    var stage: Stage
    /// What the vault destroyed; nil before.
    var vault: VaultPart?
    /// What could not be removed, without file names.
    var failures: [String]
    /// The signed receipt; nil before.
    var receipt: String?
    /// Why the device decided it itself; nil for a command of the service, and in records of older versions.
    var cause: String?
    /// What the vaults' notes of this wipe are known by, random; nil until they are first asked, and in records of older versions.
    var binding: String?

    /// What the vault destroyed.
    struct VaultPart: Codable, Equatable, Sendable {
        var destroyedKeyIDs: [String]
        var files: Int
        var bytes: Int64
    }
}

/// A wipe as the registration of its account notes it: should the record of the wipe be lost, it begins anew.
struct BegunWipe: Codable, Equatable, Sendable {
    /// The command that asked for it.
    var command: Command
    /// Why the device decided it itself; nil for a command of the service.
    var cause: String?
}

extension WipeRecord: JSONReadable {
    // Read by a decoder: few starts have one.
    init(_ members: JSONMembers) throws(PolicyError) { self = try members.decode(Self.self) }
}

extension WipeRecord {
    /// The same wipe with nothing done and no binding, so that no earlier note counts for it. A receipt that only waits to be handed in
    /// is not signed again; any other stays, in case the key for a new one is gone.
    var begunAnew: WipeRecord {
        guard stage != .forgotten else { return self }
        var record = self
        (record.stage, record.vault, record.failures, record.binding) = (.begun, nil, [], nil)
        return record
    }
}
