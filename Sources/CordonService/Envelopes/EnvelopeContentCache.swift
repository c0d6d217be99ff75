internal import CordonBase

/// Everything that decides what an envelope says, besides the snapshot of policies and groups.
struct EnvelopeInputs: Equatable, Sendable {
    var user: DirectoryUser
    var groups: [String]
    var bundleID: String
    var facts: FilterFacts
    var settings: TenantSettings
    var extras: EnvelopeExtras
}

/// What each registration should have, as it came out last time: comparing what decides it costs a fraction of merging,
/// coding and hashing it again, and most check-ins find nothing changed.
///
/// For one snapshot and one organisation; full, it forgets everything, which only costs time.
struct EnvelopeContentCache: Sendable {
    private struct Entry {
        var inputs: EnvelopeInputs
        var content: EnvelopeContent
    }

    private static let most = 20_000

    private let entries = Locked<[String: Entry]>([:])

    /// The content for a registration, made where it is not known for these inputs.
    func content(
        of registrationID: String, _ inputs: EnvelopeInputs, make: () throws -> EnvelopeContent
    ) rethrows -> EnvelopeContent {
        if let known = entries.withLock({ $0[registrationID] }), known.inputs == inputs { return known.content }
        let content = try make()
        entries.withLock { entries in
            if entries.count >= Self.most { entries.removeAll(keepingCapacity: true) }
            entries[registrationID] = Entry(inputs: inputs, content: content)
        }
        return content
    }
}
