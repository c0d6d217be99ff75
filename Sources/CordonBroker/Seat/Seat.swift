/// The seat of the device, and the one session of the operating system that is followed on it.
///
/// That is the first session of a user that comes to the front when none is followed, until it is over. Every other session in
/// front, such as the one that asks for a password or another user's, counts as a locked screen; what sessions say that are not
/// in front counts for nothing.
public struct Seat: Sendable {
    private var followed: String?
    private var active: String?
    /// Whether each session is one in which a person works.
    private var isOfUser: [String: Bool] = [:]
    /// The sessions that have said that their screen is not locked.
    private var unlocked: Set<String> = []
    /// Whether the screen counts as locked.
    public private(set) var isLocked = true

    /// A seat of which nothing is known yet, which counts as locked.
    public init() {}

    /// The session in front, where its kind and its screen are still to be asked for.
    public var unknownSession: String? { active.flatMap { isOfUser[$0] == nil ? $0 : nil } }

    /// Takes note of a fact; what the person at the device did by it, nil where nothing changes.
    public mutating func take(_ fact: SeatFact) -> SeatEvent? {
        switch fact {
        case .active(let session): active = session
        case .ofUser(let isTrue, let session): isOfUser[session] = isTrue
        case .locked(true, let session): unlocked.remove(session)
        case .locked(false, let session): unlocked.insert(session)
        case .removed(let session):
            isOfUser[session] = nil
            unlocked.remove(session)
            if followed == session { followed = nil }
            if active == session { active = nil }
        }
        if followed == nil, let active, isOfUser[active] == true { followed = active }
        let wasLocked = isLocked
        isLocked = followed == nil || active != followed || !unlocked.contains(followed ?? "")
        return isLocked == wasLocked ? nil : isLocked ? .locked : .unlocked
    }
}
