internal import Foundation

extension EffectivePolicy {
    /// What several policies amount to; nil for none. The order of the policies carries no meaning.
    public static func merging(
        _ policies: [AppProtectionPolicy], numericConflict: NumericConflict = .mostRestrictive
    ) -> EffectivePolicy? {
        let ordered = policies.sorted { ($0.id, $0.version) < ($1.id, $1.version) }
        guard let first = ordered.first else { return nil }
        let merged = ordered.dropFirst().reduce(EffectivePolicy(first)) { $0.merged(with: EffectivePolicy($1)) }
        return numericConflict == .recommended ? merged.withRecommendedNumbers(for: ordered) : merged
    }

    /// What two sets of policies amount to together: commutative, associative, idempotent, and never
    /// weaker than either.
    public func merged(with other: EffectivePolicy) -> EffectivePolicy {
        let sources = Self.union(contributors, other.contributors)
        // The same policies amount to themselves. Two that have no id, or share one, are still two.
        guard sources.count > 1 || policy != other.policy else { return self }
        var result = policy
        var origins: [String: String] = [:]
        var conflicts: [PolicyConflict] = []
        for setting in Setting.all {
            origins[setting.name] = take(setting, of: other, into: &result)
            result.unknownValues[setting.name] = unknownValue(of: setting, beside: other, in: result)
            let value = setting.write(result)
            let candidates = Self.union(self.candidates(of: setting), other.candidates(of: setting))
            if Set(candidates.map(\.value)).count > 1 {
                conflicts.append(PolicyConflict(setting: setting.name, chosen: value, candidates: candidates))
            }
        }
        result.takeTogether(policy, other.policy, sources: sources)
        return EffectivePolicy(policy: result, origins: origins, conflicts: conflicts, contributors: sources)
    }

    /// Takes what both amount to in one setting; the policy that the value comes from, nil where none has it.
    ///
    /// A value that makes no difference to its own policy gives way to one that does.
    private func take(
        _ setting: Setting, of other: EffectivePolicy, into result: inout AppProtectionPolicy
    ) -> String? {
        let (mine, theirs) = (origins[setting.name], other.origins[setting.name])
        switch (setting.counts(in: policy), setting.counts(in: other.policy)) {
        case (true, false): return mine
        case (false, true):
            setting.copy(&result, other.policy)
            return theirs
        case (true, true), (false, false): break
        }
        let (one, two) = (mine ?? policy.id, theirs ?? other.policy.id)
        // Policies without ids, or with one, still have one answer, whichever comes first.
        let keepsOwn = one == two ? setting.write(policy).text() <= setting.write(other.policy).text() : one < two
        setting.join(&result, other.policy, keepsOwn)
        switch (setting.same(result, policy), setting.same(result, other.policy)) {
        case (true, true): return [mine, theirs].compactMap(\.self).min()
        case (true, false): return mine
        case (false, true): return theirs
        case (false, false): return nil
        }
    }

    /// The value that this version does not know and for which the merged one stands: where every policy that has the merged value
    /// has it for want of knowing its own.
    private func unknownValue(
        of setting: Setting, beside other: EffectivePolicy, in result: AppProtectionPolicy
    ) -> JSONValue? {
        let values = [policy, other.policy].filter { setting.same($0, result) }.map { $0.unknownValue(of: setting) }
        guard !values.contains(nil) else { return nil }
        return values.compactMap(\.self).min { $0.text() < $1.text() }
    }

    private func candidates(of setting: Setting) -> [PolicyConflict.Candidate] {
        if let conflict = conflicts.first(where: { $0.setting == setting.name }) { return conflict.candidates }
        let value = setting.write(policy)
        return contributors.map { PolicyConflict.Candidate(policyId: $0.id, value: value) }
    }

    private func withRecommendedNumbers(for policies: [AppProtectionPolicy]) -> EffectivePolicy {
        var result = policy
        let defaults = AppProtectionPolicy()
        var resolved = conflicts
        var origins = origins
        for (index, conflict) in conflicts.enumerated() {
            guard let setting = Setting.named(conflict.setting), setting.isNumber else { continue }
            let counting = policies.filter { setting.counts(in: $0) }
            // Of values that make a difference there is one, or none: no conflict.
            if !counting.isEmpty, Set(counting.map { setting.write($0) }).count == 1 { continue }
            setting.copy(&result, defaults)
            let chosen = setting.write(result)
            resolved[index] = PolicyConflict(
                setting: conflict.setting, chosen: chosen, candidates: conflict.candidates)
            // A value that no policy has comes from none of them; then the merged policy's own name stands for all.
            origins[conflict.setting] = conflict.candidates.first { $0.value == chosen }?.policyId
        }
        return EffectivePolicy(policy: result, origins: origins, conflicts: resolved, contributors: contributors)
    }

    private static func union(_ one: [PolicyReference], _ two: [PolicyReference]) -> [PolicyReference] {
        Set(one).union(two).sorted { ($0.id, $0.version) < ($1.id, $1.version) }
    }

    private static func union(
        _ one: [PolicyConflict.Candidate], _ two: [PolicyConflict.Candidate]
    ) -> [PolicyConflict.Candidate] {
        var result = one
        for candidate in two where !result.contains(candidate) { result.append(candidate) }
        return result.sorted { ($0.policyId, $0.value.text()) < ($1.policyId, $1.value.text()) }
    }
}

extension AppProtectionPolicy {
    /// Names the merged policy after its sources and keeps what denies from both.
    fileprivate mutating func takeTogether(
        _ one: AppProtectionPolicy, _ two: AppProtectionPolicy, sources: [PolicyReference]
    ) {
        id = Set(sources.map(\.id)).sorted().joined(separator: "+")
        version = sources.map(\.version).joined(separator: "+")
        displayName = Set([one, two].flatMap { $0.displayName.components(separatedBy: " + ") }).sorted()
            .joined(separator: " + ")
        notUnderstood = one.notUnderstood.union(two.notUnderstood)
        // The merged value of a setting says nothing of the unknown one that denies everything; another name does.
        unknownCritical = Set(
            one.unknownCritical.union(two.unknownCritical).map { Setting.named($0) == nil ? $0 : "\($0) (value)" })
        // What denies everything must do so on a device as well, which reads the policy's JSON.
        original = one.original.merging(two.original) { $0.text() < $1.text() ? $0 : $1 }
            .filter { unknownCritical.contains($0.key) }
        for name in unknownCritical { original[name + Self.criticalMark] = true }
    }
}
