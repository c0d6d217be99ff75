/// One setting of a policy, with everything the engine needs to know of it beyond its meaning:
/// its JSON name, how it is read and written, and which of two values is stricter.
struct Setting: Sendable {
    /// Where a reader finds it.
    enum Group: String, Sendable { case access, transfer, launch, storage }

    /// The JSON property.
    let name: String
    let group: Group
    /// Whether it is a number-entry field, which the documented conflict rule treats apart (SRV-TG-12).
    let isNumber: Bool
    /// The names that a value may have; empty where it is not one of a few names.
    let names: [String]
    /// The numbers that a value may be; nil where it is no number.
    let range: ClosedRange<Int>?
    /// Reads a value into the policy; false when the value names something unknown.
    let read: @Sendable (JSONValue, inout AppProtectionPolicy) throws(PolicyError) -> Bool
    /// The value as JSON.
    let write: @Sendable (AppProtectionPolicy) -> JSONValue
    /// Whether two policies have the same value.
    let same: @Sendable (AppProtectionPolicy, AppProtectionPolicy) -> Bool
    /// Takes the stricter of both policies' values into the first; where neither is, the set or the kept one.
    let join: @Sendable (inout AppProtectionPolicy, AppProtectionPolicy, _ keepFirst: Bool) -> Void
    /// Copies the value of the second policy into the first.
    let copy: @Sendable (inout AppProtectionPolicy, AppProtectionPolicy) -> Void

    /// - Parameters:
    ///   - path: Made when it is first needed: sixty of them take a tenth of the start of an app, whose rules name a few.
    ///   - range: Kept here and not in the codec: with it, the codec's type is looked up at run time for each type of value, which took a fifth of a start.
    init<Value: Hashable & Sendable>(
        _ name: String, _ group: Group,
        _ path: @autoclosure @escaping @Sendable () -> WritableKeyPath<AppProtectionPolicy, Value> & Sendable,
        _ codec: SettingCodec<Value>, range: ClosedRange<Int>? = nil,
        isNumber: Bool = false
    ) {
        self.name = name
        self.group = group
        self.isNumber = isNumber
        (names, self.range) = (codec.names, range)
        read = { (json: JSONValue, policy: inout AppProtectionPolicy) throws(PolicyError) -> Bool in
            let reading = try codec.read(json)
            policy[keyPath: path()] = reading.value
            return reading.understood
        }
        write = { codec.write($0[keyPath: path()]) }
        same = { $0[keyPath: path()] == $1[keyPath: path()] }
        copy = { $0[keyPath: path()] = $1[keyPath: path()] }
        join = { first, second, keepFirst in
            let path = path()
            let (one, two) = (first[keyPath: path], second[keyPath: path])
            if one == two { return }
            guard let joined = codec.join(one, two) else {
                // Neither is stricter: a set value beats an unset one, then the lower id decides.
                let takeFirst = codec.isUnset(two) || (!codec.isUnset(one) && keepFirst)
                if !takeFirst { first[keyPath: path] = two }
                return
            }
            first[keyPath: path] = joined
        }
    }

    /// A number within a range.
    init(
        _ name: String, _ group: Group,
        _ path: @autoclosure @escaping @Sendable () -> WritableKeyPath<AppProtectionPolicy, Int> & Sendable,
        in range: ClosedRange<Int>, stricter: StricterNumber
    ) {
        self.init(name, group, path(), .count(range, stricter: stricter), range: range, isNumber: true)
    }

    /// Whether a policy's value is at least as strict as another's.
    func isAtLeastAsStrict(_ policy: AppProtectionPolicy, as other: AppProtectionPolicy) -> Bool {
        var joined = policy
        join(&joined, other, true)
        return same(joined, policy)
    }

    /// The setting of that JSON name.
    static func named(_ name: String) -> Setting? { byName[name] }

    /// Every setting, in the order of the specification.
    static let all: [Setting] = transferSettings + accessSettings + launchSettings + storageSettings

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}
