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
/// For one snapshot and one organisation. What is not asked for in an hour or two is forgotten, and what is of a registration that ends, at once;
/// full, it forgets everything, which only costs time.
struct EnvelopeContentCache: Sendable {
    private struct Entry {
        var inputs: EnvelopeInputs
        var content: EnvelopeContent
    }

    private struct Entries {
        var current: [String: Entry] = [:]
        /// What was asked for in the hour before, and not since.
        var previous: [String: Entry] = [:]
        /// When the current hour began.
        var begun: ContinuousClock.Instant

        /// What is known of a registration, which counts for the current hour from now on.
        mutating func take(_ id: String) -> Entry? {
            if let entry = current[id] { return entry }
            guard let entry = previous.removeValue(forKey: id) else { return nil }
            current[id] = entry
            return entry
        }
    }

    private static let most = 20_000
    private static let hour = Duration.seconds(3_600)

    private let entries: Locked<Entries>

    init(at now: ContinuousClock.Instant = .now) { entries = Locked(Entries(begun: now)) }

    /// Of how many registrations it knows the content.
    var count: Int { entries.withLock { $0.current.count + $0.previous.count } }

    /// The content for a registration, made where it is not known for these inputs.
    func content(
        of registrationID: String, _ inputs: EnvelopeInputs, at now: ContinuousClock.Instant = .now,
        make: () throws -> EnvelopeContent
    ) rethrows -> EnvelopeContent {
        if let known = entries.withLock({ $0.take(registrationID) }), known.inputs == inputs { return known.content }
        let content = try make()
        entries.withLock { entries in
            if entries.begun.duration(to: now) >= Self.hour {
                entries = Entries(previous: entries.current, begun: now)
            } else if entries.current.count + entries.previous.count >= Self.most {
                entries = Entries(begun: entries.begun)
            }
            entries.current[registrationID] = Entry(inputs: inputs, content: content)
        }
        return content
    }

    /// Forgets a registration.
    func forget(_ registrationID: String) {
        entries.withLock { entries in
            entries.current[registrationID] = nil
            entries.previous[registrationID] = nil
        }
    }
}
