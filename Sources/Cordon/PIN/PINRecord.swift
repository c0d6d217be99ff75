internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

/// What is kept of an account's PIN, by every app of the organisation that shares the folder.
struct PINRecord: Codable, Equatable, Sendable {
    /// Recognises the PIN; nil when a new one must be made after a fresh sign-in.
    var verifier: PINVerifier?
    /// The key that the PIN opens; nil where there is none yet, and once the guesses are used up.
    var key: SealedPINKey?
    /// What the secret of a replaced key is called, so that a kill does not leave it; destroyed again at every change.
    var endedKey: Data?
    /// Recognise former PINs, the latest first.
    var former: [PINVerifier] = []
    /// Guesses since the last right one, counted before each was tried.
    var failed = 0
    /// When the last guess was counted.
    var lastGuess: ClockReading?
    /// When the PIN was made.
    var made: ClockReading
    /// When the PIN itself was last entered.
    var entered: ClockReading?
    /// When the person was last seen using an app of the organisation with access.
    var active: ClockReading?

    /// As many former PINs are kept as a policy may ask for (SRV-RS-049).
    static let formerLimit = 24

    /// The PIN counts no more, and is one of the former ones.
    mutating func end() {
        former = formerWithCurrent
        (verifier, key, failed) = (nil, nil, 0)
    }

    /// Recognise every PIN that a new one may not be, the latest first.
    var formerWithCurrent: [PINVerifier] {
        Array(((verifier.map { [$0] } ?? []) + former).prefix(Self.formerLimit))
    }
}

extension PINRecord: JSONReadable {
    // No start needs it: it is read when the person is asked.
    init(_ members: JSONMembers) throws(PolicyError) { self = try members.decode(Self.self) }
}
