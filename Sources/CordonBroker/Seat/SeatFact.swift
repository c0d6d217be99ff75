internal import Foundation

/// One thing that logind says of seats and sessions, as `gdbus` prints it.
public enum SeatFact: Sendable, Equatable {
    /// Another session is in front of the person, or none.
    case active(session: String?)
    /// Whether the session's screen is locked.
    case locked(Bool, session: String)
    /// Whether a person's work goes on in the session, and not, say, the question for a password.
    case ofUser(Bool, session: String)
    /// The session is over.
    case removed(session: String)

    /// The seat that a shared device has.
    public static let seat = "/org/freedesktop/login1/seat/seat0"
    private static let sessions = "/org/freedesktop/login1/session/"

    /// Reads one line of `gdbus monitor --system --dest org.freedesktop.login1`; nil for a line about anything else.
    ///
    /// Only properties count: the signals `Lock` and `Unlock` ask for a lock, and do not say that there is one.
    public init?(monitorLine line: String) {
        guard let colon = line.firstIndex(of: ":") else { return nil }
        let (place, said) = (String(line[..<colon]), line[line.index(after: colon)...].drop { $0 == " " })
        let changes = "org.freedesktop.DBus.Properties.PropertiesChanged "
        if place == Self.seat, said.hasPrefix(changes + "('org.freedesktop.login1.Seat'") {
            guard let value = Self.value(of: "'ActiveSession': ", in: said) else { return nil }
            self = .active(session: Self.session(in: value))
        } else if place.hasPrefix(Self.sessions), said.hasPrefix(changes + "('org.freedesktop.login1.Session'") {
            if said.contains("'LockedHint': <true>") {
                self = .locked(true, session: place)
            } else if said.contains("'LockedHint': <false>") {
                self = .locked(false, session: place)
            } else {
                return nil
            }
        } else if place == "/org/freedesktop/login1",
            said.hasPrefix("org.freedesktop.login1.Manager.SessionRemoved "), let session = Self.session(in: said)
        {
            self = .removed(session: session)
        } else {
            return nil
        }
    }

    /// Reads what `gdbus call … Properties.Get` prints for the seat's `ActiveSession`; nil for anything else.
    public init?(activeSession text: String) {
        guard text.hasPrefix("(<(") else { return nil }
        self = .active(session: Self.session(in: text[...]))
    }

    /// Reads what it prints for a session's `LockedHint`; nil for anything else.
    public init?(lockedHint text: String, session: String) {
        switch text.filter({ !$0.isWhitespace }) {
        case "(<true>,)": self = .locked(true, session: session)
        case "(<false>,)": self = .locked(false, session: session)
        default: return nil
        }
    }

    /// Reads what it prints for a session's `Class`; anything but a user's is not one in which a person works.
    public init(class text: String, session: String) {
        self = .ofUser(text.filter { !$0.isWhitespace } == "(<'user'>,)", session: session)
    }

    private static func value(of name: String, in text: Substring) -> Substring? {
        text.range(of: name).map { text[$0.upperBound...].prefix { $0 != ">" } }
    }

    /// The path of a session in a text, such as `('2', objectpath '/org/freedesktop/login1/session/_32')`.
    private static func session(in text: Substring) -> String? {
        text.split(separator: "'").first { $0.hasPrefix(sessions) && $0.count > sessions.count }.map(String.init)
    }
}
