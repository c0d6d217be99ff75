/// The release that a program was built with.
public enum CordonRelease {
    /// Its version: numbers joined by dots, the most significant first (SDK-CO-12). Policies that ask for a least version of
    /// the SDK are judged by it (SDK-DB-20).
    public static let version = "0.1.0"
}
