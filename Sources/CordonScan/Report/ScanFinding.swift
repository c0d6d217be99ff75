/// A way out that nothing guards, or a flaw of a waiver, with its place.
package struct ScanFinding: Sendable, Hashable, Codable {
    /// How much a finding matters.
    package enum Severity: String, Sendable, Codable, CaseIterable, Comparable {
        /// Worth knowing; fails nothing unless asked to.
        case note
        /// Data stays on the device, or comes in.
        case warning
        /// Data leaves.
        case error

        /// Orders note before warning before error.
        package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

        private var rank: Int { self == .note ? 0 : self == .warning ? 1 : 2 }
    }

    /// The file, relative to the folder that was scanned.
    package var path: String
    /// From 1.
    package var line: Int
    /// From 1, in Unicode scalars.
    package var column: Int
    package var severity: Severity
    /// A ``WayOut``, or `waiver` for a flaw of one.
    package var way: String
    /// What was written, as it is known: `UIPasteboard.string`.
    package var symbol: String
    /// What leaves, one line.
    package var message: String
    /// What to call instead.
    package var remedy: String
    /// The same for the same code after lines above it changed; tells findings of a baseline again.
    package var fingerprint = ""
    /// Why it is accepted, where a waiver says so.
    package var waiver: String?

    /// `path:line:column: severity: way: message`, which an IDE's build log links.
    package var summary: String {
        "\(path):\(line):\(column): \(severity.rawValue): \(way): \(message)"
    }
}
