/// What the device's seat says of the person in front of it; from logind on Linux (SI-201).
public enum SeatEvent: String, Sendable, Codable, CaseIterable {
    /// The screen was locked, or somebody switched away from the session.
    case locked
    /// The screen was unlocked, or somebody switched back to it.
    case unlocked

    /// Reads one line of `gdbus monitor --system --dest org.freedesktop.login1`; nil for a line about anything else.
    public init?(monitorLine line: String) {
        guard line.hasPrefix("/org/freedesktop/login1/session/"), let colon = line.firstIndex(of: ":") else {
            return nil
        }
        let said = line[line.index(after: colon)...].drop { $0 == " " }
        if said.hasPrefix("org.freedesktop.login1.Session.Lock ") {
            self = .locked
        } else if said.hasPrefix("org.freedesktop.login1.Session.Unlock ") {
            self = .unlocked
        } else if said.hasPrefix("org.freedesktop.DBus.Properties.PropertiesChanged ('org.freedesktop.login1.Session'")
        {
            if said.contains("'LockedHint': <true>") || said.contains("'Active': <false>") {
                self = .locked
            } else if said.contains("'LockedHint': <false>") || said.contains("'Active': <true>") {
                self = .unlocked
            } else {
                return nil
            }
        } else {
            return nil
        }
    }
}
