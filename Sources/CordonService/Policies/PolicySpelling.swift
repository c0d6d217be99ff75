internal import CordonPolicy

/// One spelling for what clients write in several ways, so that what was exported once is the same after every restore.
enum PolicySpelling {
    /// The document with its durations as ISO 8601 days and time, and the members of enumerations in their own case
    /// (SRV-RS-006…008). Versions and free texts keep their spelling, and so does what this version does not know.
    ///
    /// - Parameter policy: What the document means.
    static func canonical(_ document: JSONValue, meaning policy: AppProtectionPolicy) -> JSONValue {
        guard case .object(var members) = document else { return document }
        var plain = AppProtectionPolicy()
        (plain.access, plain.transfer) = (policy.access, policy.transfer)
        (plain.launch, plain.storage) = (policy.launch, policy.storage)
        let settings = plain.completeGraphJSON.object ?? [:]
        for (name, given) in members where !policy.notUnderstood.contains(name) && !name.hasSuffix("Version") {
            guard let usual = settings[name] else { continue }
            members[name] = canonical(given, like: usual, named: name)
        }
        return .object(members)
    }

    /// The same for a document that is kept and never evaluated: each member by itself, and as it came where this
    /// version cannot read it (SRV-RS-101).
    static func canonicalMembers(_ members: [String: JSONValue]) -> JSONValue {
        var members = members
        for (name, value) in members {
            let one = JSONValue.object([name: value])
            guard let policy = try? AppProtectionPolicy(graphJSON: one) else { continue }
            members[name] = canonical(one, meaning: policy)[name] ?? value
        }
        return .object(members)
    }

    private static func canonical(_ given: JSONValue, like usual: JSONValue, named name: String) -> JSONValue {
        switch (given, usual) {
        case (.string(let text), .string(let other)):
            // A period is spelt with P and digits alone; nothing else changes more than its case.
            let isPeriod = name.hasPrefix("period") || name.hasPrefix("gracePeriod") || name.hasSuffix("Timeout")
            return isPeriod || text.lowercased() == other.lowercased() ? usual : given
        case (.array(let entries), .array(let others)):
            // The order is the client's.
            let spellings = Dictionary(
                others.compactMap { other in other.string.map { ($0.lowercased(), other) } },
                uniquingKeysWith: { first, _ in first })
            return .array(entries.map { entry in entry.string.flatMap { spellings[$0.lowercased()] } ?? entry })
        default: return given
        }
    }
}
