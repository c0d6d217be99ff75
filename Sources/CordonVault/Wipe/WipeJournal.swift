internal import CordonBase
internal import CordonIdentity

/// A wipe's progress on disk, a file per account in the vault's directory: rewritten whole after every step, so that a
/// kill leaves the old or the new state. It becomes the report, which stays until the caller has taken it.
struct WipeJournal: Codable {
    var report: WipeReport
    var attachments: [String]
    /// The id of the key that was there when the wipe was asked for, empty for none; nil where nothing proved it, and in
    /// journals of older versions, which were first written when the key was gone.
    var askedKeyID: String?
    /// What the caller tells this wipe from every other one by; nil where it gave nothing, and in journals of older versions.
    var binding: String?
    /// What a step has yet to remove, noted before the first removal so that a resumed step does not count again.
    var planned: [String: Plan] = [:]

    struct Plan: Codable {
        var files: Int
        var bytes: Int64
        /// What of it the last attempt left, and took out of the report again.
        var left: Left?
    }

    struct Left: Codable {
        var files = 0
        var bytes: Int64 = 0
    }

    /// Whether the numbers are ones that counting can have led to, and that can be counted on from.
    var isPlausible: Bool {
        let lefts = planned.values.compactMap(\.left)
        let files =
            [report.files, report.databases, report.caches, report.temporaryFiles, report.attachedFiles]
            + planned.values.map(\.files) + lefts.map(\.files)
        let bytes = [report.bytes] + planned.values.map(\.bytes) + lefts.map(\.bytes)
        return files.allSatisfy { (0...1 << 40).contains($0) } && bytes.allSatisfy { (0...1 << 60).contains($0) }
    }

    /// Whether the wipe began with the key of this id, or that is not known.
    func isAbout(_ keyID: [UInt8]) -> Bool {
        if result(of: WipeStep.Kind.keyDestroyed.rawValue) != nil { return hasDestroyed(keyID) }
        return askedKeyID.map { $0 == keyID.hex } ?? true
    }

    /// Whether this wipe destroyed the key with this id.
    func hasDestroyed(_ keyID: [UInt8]) -> Bool { report.destroyedKeyIDs.contains(keyID.hex) }

    /// How a step ended before; nil when it has not.
    func result(of step: String) -> WipeReport.StepResult? { report.steps.first { $0.name == step } }
}
