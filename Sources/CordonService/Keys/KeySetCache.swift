internal import CordonProtocol
internal import Foundation

/// A signed key set and how long to hand it out again.
struct KeySetCache: Sendable {
    let set: SignedKeySet
    /// The keys that were to be published when it was signed.
    let keyIDs: [String]
    let freshUntil: Date
}
