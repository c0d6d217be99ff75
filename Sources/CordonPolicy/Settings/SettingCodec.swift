/// How one type of value is read, written and compared for strictness.
struct SettingCodec<Value: Hashable & Sendable>: Sendable {
    /// What was read, and whether every name in it is known.
    struct Reading { let value: Value; let understood: Bool }

    let read: @Sendable (JSONValue) throws(PolicyError) -> Reading
    let write: @Sendable (Value) -> JSONValue
    /// The value that is as strict as both; nil where neither is stricter.
    let join: @Sendable (Value, Value) -> Value?
    /// Whether the value means "not set".
    let isUnset: @Sendable (Value) -> Bool
    /// The names that a value may have; empty where it is not one of a few names.
    let names: [String]

    init(
        read: @escaping @Sendable (JSONValue) throws(PolicyError) -> Reading,
        write: @escaping @Sendable (Value) -> JSONValue,
        join: @escaping @Sendable (Value, Value) -> Value?,
        isUnset: @escaping @Sendable (Value) -> Bool = { _ in false }, names: [String] = []
    ) {
        (self.read, self.write, self.join, self.isUnset) = (read, write, join, isUnset)
        self.names = names
    }
}

/// Which of two numbers is stricter.
enum StricterNumber: Sendable { case lower, higher }

extension SettingCodec where Value == Bool {
    /// A truth value; `stricter` wins.
    static func flag(stricter: Bool) -> SettingCodec {
        SettingCodec(
            read: { (json: JSONValue) throws(PolicyError) -> Reading in
                guard let value = json.bool else { throw .wrong(json, needed: "true or false") }
                return Reading(value: value, understood: true)
            },
            write: { .bool($0) },
            join: { $0 == stricter ? $0 : $1 })
    }
}

extension SettingCodec where Value: StrictnessOrdered {
    /// A member of an enumeration; an unknown one counts as one that denies.
    static var member: SettingCodec {
        SettingCodec(
            read: { (json: JSONValue) throws(PolicyError) -> Reading in
                guard let name = json.string else { throw .wrong(json, needed: "a name") }
                let value = Value.named(name)
                return Reading(value: value ?? Value.whenUnknown, understood: value != nil)
            },
            write: { .string($0.rawValue) },
            join: { $0.stricter($1) }, names: Value.allCases.map(\.rawValue))
    }

    /// A member of an enumeration of flags, which may come as a list with commas: the strictest of them counts
    /// (SRV-RS-008).
    static var flags: SettingCodec {
        SettingCodec(
            read: { (json: JSONValue) throws(PolicyError) -> Reading in
                guard let text = json.string else { throw .wrong(json, needed: "a name") }
                let named = text.split { $0 == "," || $0 == " " }.map { Value.named(String($0)) }
                let known = named.compactMap(\.self)
                guard let first = known.first, known.count == named.count else {
                    return Reading(value: Value.whenUnknown, understood: false)
                }
                return Reading(value: known.reduce(first) { $0.stricter($1) }, understood: true)
            },
            write: { .string($0.rawValue) },
            join: { $0.stricter($1) }, names: Value.allCases.map(\.rawValue))
    }

    /// A member of an enumeration that is unset by default, of which none is stricter.
    static var optionalMember: SettingCodec<Value?> {
        SettingCodec<Value?>(
            read: { (json: JSONValue) throws(PolicyError) -> SettingCodec<Value?>.Reading in
                guard let name = json.string else { throw .wrong(json, needed: "a name") }
                let value = Value.named(name)
                return SettingCodec<Value?>.Reading(value: value ?? Value.whenUnknown, understood: value != nil)
            },
            write: { $0.map { .string($0.rawValue) } ?? .null },
            join: { _, _ in nil }, isUnset: { $0 == nil }, names: Value.allCases.map(\.rawValue))
    }
}

extension SettingCodec where Value == FeatureState? {
    /// Screen capture: blocked, as other settings have it, or not blocked.
    static var capture: SettingCodec {
        let member = SettingCodec<FeatureState>.optionalMember
        return SettingCodec(
            read: member.read, write: member.write,
            join: { one, two in
                if one == .blocked || two == .blocked { return .some(.blocked) }
                return .some(one == nil || two == nil ? nil : .notBlocked)
            },
            isUnset: member.isUnset, names: member.names)
    }
}

extension SettingCodec where Value == RemediationAction {
    /// The action of a condition: of two, the one that amounts to more is stricter.
    static func action(_ actions: ConditionActions) -> SettingCodec {
        SettingCodec(
            read: member.read, write: member.write, join: { actions.stricter($0, $1) }, names: member.names)
    }
}

extension SettingCodec where Value == RemediationAction? {
    /// The action of a condition that is unset by default; a set value beats an unset one.
    static func optionalAction(_ actions: ConditionActions) -> SettingCodec {
        let member = SettingCodec<RemediationAction>.optionalMember
        return SettingCodec(
            read: member.read, write: member.write,
            join: { one, two in
                guard let first = one, let second = two else { return .some(one ?? two) }
                return .some(actions.stricter(first, second))
            },
            isUnset: member.isUnset, names: member.names)
    }
}

extension SettingCodec where Value == Int {
    /// A number within a range.
    static func count(_ range: ClosedRange<Int>, stricter: StricterNumber) -> SettingCodec {
        SettingCodec(
            read: { (json: JSONValue) throws(PolicyError) -> Reading in
                guard let number = json.integer else { throw .wrong(json, needed: "a whole number") }
                guard let value = Int(exactly: number), range.contains(value) else {
                    throw PolicyError(
                        .invalidValue, "\(number) is out of range", at: "",
                        hint: "\(range.lowerBound) to \(range.upperBound)")
                }
                return Reading(value: value, understood: true)
            },
            write: { .integer(Int64($0)) },
            join: { stricter == .lower ? min($0, $1) : max($0, $1) })
    }
}

extension SettingCodec where Value == Duration {
    /// A length of time of which the shorter is stricter; with `zeroIsNever`, zero is the longest.
    static func period(zeroIsNever: Bool) -> SettingCodec {
        SettingCodec(
            read: { (json: JSONValue) throws(PolicyError) -> Reading in
                Reading(value: try readDuration(json), understood: true)
            },
            write: { .string(DurationText.format($0)) },
            join: { zeroIsNever && $0 == .zero ? $1 : zeroIsNever && $1 == .zero ? $0 : min($0, $1) })
    }
}

extension SettingCodec where Value == Duration? {
    /// Time to go on after a condition is not met; the shorter is stricter, and unset is none at all.
    static var gracePeriod: SettingCodec {
        SettingCodec(
            read: { (json: JSONValue) throws(PolicyError) -> Reading in
                Reading(value: try readDuration(json), understood: true)
            },
            write: { $0.map { .string(DurationText.format($0)) } ?? .null },
            join: { one, two in
                guard let first = one, let second = two else { return .some(nil) }
                return .some(min(first, second))
            })
    }
}

private func readDuration(_ json: JSONValue) throws(PolicyError) -> Duration {
    guard let text = json.string else { throw .wrong(json, needed: "a duration") }
    guard let duration = DurationText.parse(text) else {
        throw PolicyError(
            .invalidValue, "\"\(text.prefix(64))\" is not a duration", at: "",
            hint: "for example PT30M or P90D, not negative")
    }
    return duration
}

extension SettingCodec where Value == VersionNumber? {
    /// A version that may be unset; empty text and `0.0` are unset.
    static func version(stricter: StricterNumber) -> SettingCodec {
        SettingCodec(
            read: { (json: JSONValue) throws(PolicyError) -> Reading in
                guard let text = json.string else { throw .wrong(json, needed: "a version") }
                if text.isEmpty { return Reading(value: nil, understood: true) }
                guard let version = VersionNumber(text) else {
                    throw PolicyError(
                        .invalidValue, "\"\(text.prefix(64))\" is not a version", at: "", hint: "for example 17.4")
                }
                return Reading(value: version.isZero ? nil : version, understood: true)
            },
            write: { $0.map { .string($0.description) } ?? .null },
            join: { one, two in
                guard let first = one, let second = two else { return .some(one ?? two) }
                return .some(stricter == .lower ? min(first, second) : max(first, second))
            },
            isUnset: { $0 == nil })
    }
}

extension PolicyError {
    /// A value of the wrong JSON type.
    static func wrong(_ json: JSONValue, needed: String) -> PolicyError {
        PolicyError(.wrongType, "\(needed) is needed, not \(json.kind)", at: "")
    }
}
