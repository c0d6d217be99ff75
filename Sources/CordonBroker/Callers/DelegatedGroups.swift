internal import Foundation

/// The groups that users may take in namespaces of users that they make, by the system's list `/etc/subgid` (subgid(5)): a process that
/// has one of them there has it for every other process too, and connects with it.
struct DelegatedGroups: Sendable, Equatable {
    private let ranges: [ClosedRange<UInt64>]

    private static let usualFile = "/etc/subgid"

    /// The list as it is now. One that is there and cannot be read may name every group.
    static func now(_ file: String = usualFile) -> DelegatedGroups {
        if let text = try? String(contentsOfFile: file, encoding: .utf8) { return DelegatedGroups(text) }
        return DelegatedGroups(ranges: FileManager.default.fileExists(atPath: file) ? [0...UInt64(UInt32.max)] : [])
    }

    private init(ranges: [ClosedRange<UInt64>]) {
        self.ranges = ranges
    }

    /// Reads a list: a line for each range, with its user, its first group and how many groups it has. No line that is not of this form
    /// lets a user take anything.
    init(_ text: String) {
        ranges = text.split(whereSeparator: \.isNewline).compactMap { line in
            let parts = line.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 3, let first = UInt64(parts[1]), let count = UInt64(parts[2]), count > 0 else {
                return nil
            }
            let (last, isBeyond) = first.addingReportingOverflow(count - 1)
            return first...(isBeyond ? .max : last)
        }
    }

    /// Whether a user may take the group.
    func contains(_ group: UInt32) -> Bool { ranges.contains { $0.contains(UInt64(group)) } }
}
