/// One setting of a policy, with everything the engine needs to know of it beyond its meaning:
/// its JSON name, how it is read and written, and which of two values is stricter. A class, because its closures are costly to copy.
final class Setting: Sendable {
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

    /// Lends the policy's member that a setting is about.
    typealias Member<Value> = @Sendable (inout AppProtectionPolicy, (inout Value) -> Void) -> Void

    /// - Parameters:
    ///   - member: No key path, which needs classes of its own for each type of value: they took a twentieth of the start of an app.
    ///   - range: Kept here and not in the codec: with it, the codec's type is looked up at run time for each type of value, which took a fifth of a start.
    init<Value: Hashable & Sendable>(
        _ name: String, _ group: Group,
        _ member: @escaping Member<Value>, _ codec: SettingCodec<Value>, range: ClosedRange<Int>? = nil,
        isNumber: Bool = false
    ) {
        self.name = name
        self.group = group
        self.isNumber = isNumber
        (names, self.range) = (codec.names, range)
        read = { (json: JSONValue, policy: inout AppProtectionPolicy) throws(PolicyError) -> Bool in
            let reading = try codec.read(json)
            member(&policy) { $0 = reading.value }
            return reading.understood
        }
        write = { policy in
            var (policy, json) = (policy, JSONValue.null)
            member(&policy) { json = codec.write($0) }
            return json
        }
        same = { first, second in
            var (first, second, isSame) = (first, second, false)
            member(&first) { one in member(&second) { isSame = one == $0 } }
            return isSame
        }
        copy = { first, second in
            var second = second
            member(&first) { one in member(&second) { one = $0 } }
        }
        join = { first, second, keepFirst in
            var second = second
            member(&first) { one in
                member(&second) { two in
                    if one == two { return }
                    // Neither is stricter: a set value beats an unset one, then the lower id decides.
                    let isKept = codec.isUnset(two) || (!codec.isUnset(one) && keepFirst)
                    one = codec.join(one, two) ?? (isKept ? one : two)
                }
            }
        }
    }

    /// A number within a range.
    convenience init(
        _ name: String, _ group: Group,
        _ member: @escaping Member<Int>, in range: ClosedRange<Int>, stricter: StricterNumber
    ) {
        self.init(name, group, member, .count(range, stricter: stricter), range: range, isNumber: true)
    }

    /// Whether a policy's value is at least as strict as another's.
    func isAtLeastAsStrict(_ policy: AppProtectionPolicy, as other: AppProtectionPolicy) -> Bool {
        var joined = policy
        join(&joined, other, true)
        return same(joined, policy)
    }

    /// The setting of that JSON name.
    static func named(_ name: String) -> Setting? { places[name].map { all[$0] } }

    /// Every setting, in the order of the specification.
    static let all: [Setting] = transferSettings + accessSettings + launchSettings + storageSettings

    private static let places = Dictionary(uniqueKeysWithValues: all.indices.map { (all[$0].name, $0) })
}
