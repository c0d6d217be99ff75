public import CordonVault
public import Foundation

/// What the apps of one organisation on a device share, so that they can hand things to each other sealed: a folder, and
/// the key store of its root key. On Apple platforms an app group and a Keychain access group (SDK-SX-04).
public struct SharingGroup: Sendable {
    /// The folder; every app of the group may write there, and nothing else may.
    public var directory: URL
    /// Where the group's root key lives; the same for every app of the group, and another than
    /// ``ProtectionConfiguration/keyStore``, so that a group's end is not the end of any app's files.
    public var keyStore: any KeyStore

    /// Counts what the apps tell their extensions, so that an older word is recognised; the same for every app and extension of the group. Nil
    /// keeps files in the group's folder: they do not recognise a copy of the whole folder that was put back.
    public var stateCounter: (any StateCounter)?

    /// Names a group.
    public init(directory: URL, keyStore: any KeyStore, stateCounter: (any StateCounter)? = nil) {
        self.directory = directory
        self.keyStore = keyStore
        self.stateCounter = stateCounter
    }
}
