/// What the device's seat says of the person in front of it; from logind on Linux (SI-201).
public enum SeatEvent: String, Sendable, Codable, CaseIterable {
    /// The screen was locked, or another session is in front.
    case locked
    /// The screen was unlocked, with the same session in front as before.
    case unlocked
    /// Nothing is heard of the seat any more, which counts as locked until something is.
    case unheard
}
