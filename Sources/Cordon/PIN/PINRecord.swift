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
    /// Guesses since the last right one, counted before each was tried. A record with fewer than none would give more of them, and is none.
    var failed: UInt32 = 0
    /// When the last guess was counted.
    var lastGuess: ClockReading?
    /// When the PIN was made.
    var made: ClockReading
    /// When the PIN itself was last entered.
    var entered: ClockReading?
    /// When the person was last seen, under each strictness of rules; nil in records of older versions.
    var seen: [Sighting]?

    /// That the person was there: who has entered the PIN, or whom an app of the organisation let in under rules that ask for it after a time.
    struct Sighting: Codable, Equatable, Sendable {
        /// That time in milliseconds; 0 where the PIN was entered.
        let period: Int64
        /// When it was.
        let time: ClockReading

        init(_ time: ClockReading, askedAfter period: Duration) {
            self.period = min(period, PINRecord.longestPeriod).milliseconds
            self.time = time
        }

        /// Whether the other, of the same start of the machine, tells nothing besides.
        func covers(_ other: Sighting) -> Bool { period <= other.period && time.uptime >= other.time.uptime }
    }

    /// Longer than any rule's, and in milliseconds still a number of JSON.
    private static let longestPeriod = Duration.seconds(Int64(1) << 40)

    /// As many former PINs are kept as a policy may ask for (SRV-RS-049).
    static let formerLimit = 24

    /// The PIN counts no more, and is one of the former ones.
    mutating func end() {
        former = formerWithCurrent
        (verifier, key, failed) = (nil, nil, 0)
    }

    /// Notes that the person was there.
    ///
    /// - Parameter period: After what time the rules ask for the PIN under which that is known; zero where it was entered.
    mutating func note(_ moment: ClockReading, askedAfter period: Duration = .zero) {
        let sighting = Sighting(moment, askedAfter: period)
        // Nothing tells how long ago it was before the machine's start.
        let others = (seen ?? []).filter { $0.time.boot == moment.boot && !sighting.covers($0) }
        // Another app of the organisation may have seen the person since.
        guard !others.contains(where: { $0.covers(sighting) }) else { return }
        seen = others + [sighting]
    }

    /// How long ago the person was seen, as far as that is known under rules as strict as those that ask after a time: laxer ones have let
    /// in anybody who came in between. Nil where it is not known.
    func sinceSeen(underRulesAskingAfter period: Duration, until now: ClockReading) -> Duration? {
        let own = Sighting(now, askedAfter: period)
        return (seen ?? []).filter { $0.period <= own.period }.compactMap { $0.time.sameRun(until: now) }.min()
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
