internal import CordonBase

/// Finds the known member that a misspelt one was meant to be.
public enum MemberSpelling {
    /// The known name nearest to another: at most two letters added, missing, different or swapped, in any case.
    ///
    /// Names of fewer than eight letters allow one, and those of fewer than four none: nearly every short word is near them.
    ///
    /// - Returns: Nil where none is near, and where the name is itself a known one.
    public static func meant(by name: String, among known: some Collection<String>) -> String? {
        let letters = Array(name.lowercased().prefix(longest + 1))
        guard !letters.isEmpty, letters.count <= longest, !known.contains(name) else { return nil }
        var best: (name: String, edits: Int)?
        for candidate in known {
            let limit = candidate.count < 4 ? 0 : candidate.count < 8 ? 1 : 2
            guard abs(candidate.count - letters.count) <= limit else { continue }
            let edits = EditDistance.between(letters, Array(candidate.lowercased()))
            guard edits <= limit else { continue }
            // The first by name of those that are as near, so that the answer is always the same.
            if let known = best, (known.edits, known.name) <= (edits, candidate) { continue }
            best = (candidate, edits)
        }
        return best?.name
    }

    /// The longest name that is compared, in characters.
    private static let longest = 128
}

extension AppProtectionPolicy {
    /// The member of a protection policy that a misspelt one was meant to be, nil where none is near or where Graph itself has
    /// the name.
    public static func memberMeant(by name: String) -> String? {
        // So the tags of other resources are called.
        guard !hasMember(name), name != "roleScopeTags" else { return nil }
        return MemberSpelling.meant(by: name, among: spelledMembers)
    }

    /// Members that make a difference; those that only the service writes do not, however they are spelt.
    private static let spelledMembers: [String] =
        Setting.all.map(\.name) + androidMembers + [
            "displayName", "description", "roleScopeTagIds", "assignments", "appGroupType", "apps", "customSettings",
            "targetedAppManagementLevels",
        ]
}
