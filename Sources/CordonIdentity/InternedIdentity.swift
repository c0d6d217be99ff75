/// An identity that some scope declared, kept for the life of the process under one address.
///
/// An app serves a few identities and opens scopes by the thousand, so each is stored once, and a scope holds its
/// address alone: nothing to retain when it is read, and a machine word to hand through C.
final class InternedIdentity: Sendable {
    let identity: Identity
    let effective: EffectiveIdentity

    init(_ identity: Identity) {
        self.identity = identity
        effective = EffectiveIdentity(identity)
    }
}

/// What a scope holds: the address of an ``InternedIdentity``, or zero for no identity.
@usableFromInline
package struct ScopedIdentity: Sendable, Equatable {
    /// The address; a machine word, for passing through C.
    @usableFromInline package let word: UInt

    /// Takes the word back from where it was passed to; it must come from a scope of this process.
    @inlinable
    package init(word: UInt) {
        self.word = word
    }

    init(_ interned: InternedIdentity?) {
        word = interned.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) } ?? 0
    }

    private static let probed = InternedIdentity(.personal)
    /// A scope that no app declares, for finding out whether scopes are followed.
    package static let probe = ScopedIdentity(probed)

    /// No identity.
    @inlinable package static var none: ScopedIdentity { ScopedIdentity(word: 0) }

    @inlinable
    package static func == (left: Self, right: Self) -> Bool { left.word == right.word }

    var interned: InternedIdentity? {
        // The table of identities holds every one of them for ever, so the address stays good.
        UnsafeRawPointer(bitPattern: word).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }
}
