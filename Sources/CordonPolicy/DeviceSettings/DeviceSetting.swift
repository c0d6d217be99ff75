/// One setting under the flat name that devices and their logs use (SDK-DB-03…20).
struct DeviceSetting: Sendable {
    /// The flat name.
    let name: String
    /// The Graph property.
    let property: String
    /// The Graph value of a device value; nil when the value is not one of the documented ones.
    let toGraph: @Sendable (JSONValue) -> JSONValue?
    /// The device value of a Graph value; nil when the device has no word for it.
    let toDevice: @Sendable (JSONValue) -> JSONValue?

    /// 0 or 1.
    static func flag(_ name: String, _ property: String, inverted: Bool = false) -> DeviceSetting {
        DeviceSetting(
            name: name, property: property,
            toGraph: { value in
                switch value {
                case .bool(let flag): .bool(flag != inverted)
                case .integer(0): .bool(inverted)
                case .integer(1): .bool(!inverted)
                default: nil
                }
            },
            toDevice: { $0.bool.map { .integer($0 != inverted ? 1 : 0) } })
    }

    /// Members numbered from 0.
    static func level(_ name: String, _ property: String, _ members: [String]) -> DeviceSetting {
        DeviceSetting(
            name: name, property: property,
            toGraph: { value in
                guard let number = value.integer, members.indices.contains(Int(clamping: number)) else { return nil }
                return .string(members[Int(clamping: number)])
            },
            toDevice: { value in value.string.flatMap { members.firstIndex(of: $0) }.map { .integer(Int64($0)) } })
    }

    /// A whole number; a field of a settings page keeps what was typed into it as text.
    private static func whole(_ value: JSONValue) -> Int64? {
        if let number = value.integer { return number }
        let words = (value.string ?? "").split(separator: " ")
        return words.count == 1 ? Int64(words[0]) : nil
    }

    /// A number as it is.
    static func count(_ name: String, _ property: String) -> DeviceSetting {
        DeviceSetting(
            name: name, property: property, toGraph: { whole($0).flatMap { $0 >= 0 ? .integer($0) : nil } },
            toDevice: { $0.integer.map { .integer($0) } })
    }

    /// A number of seconds-long units, more than zero unless `zero` says otherwise.
    static func period(_ name: String, _ property: String, unit: Int64, zero: Bool = false) -> DeviceSetting {
        DeviceSetting(
            name: name, property: property,
            toGraph: { value in
                guard let number = whole(value), number > 0 || (zero && number == 0), number < 1 << 32 else {
                    return nil
                }
                return .string(DurationText.format(.seconds(number * unit)))
            },
            toDevice: { value in
                guard let duration = value.string.flatMap(DurationText.parse) else { return nil }
                let seconds = duration.components.seconds
                // A shorter time is stricter, so fractions of a unit are cut off; but not down to "never".
                return .integer(seconds == 0 ? 0 : max(1, seconds / unit))
            })
    }

    /// Text; empty is not set.
    static func text(_ name: String, _ property: String) -> DeviceSetting {
        DeviceSetting(
            name: name, property: property, toGraph: { $0.string.map { .string($0) } },
            toDevice: { .string($0.string ?? "") })
    }

    /// A version; `0.0` is not set.
    static func version(_ name: String, _ property: String) -> DeviceSetting {
        DeviceSetting(
            name: name, property: property,
            toGraph: { value in
                value.string.flatMap { text in VersionNumber(text).map { $0.isZero ? .null : .string(text) } }
            },
            toDevice: { .string($0.string ?? "0.0") })
    }

    /// A sum of bits, each one place. Places without a bit are left out, which is the stricter side.
    static func places(_ name: String, _ property: String, _ bits: [(bit: Int64, place: String)]) -> DeviceSetting {
        let known = bits.reduce(0) { $0 | $1.bit }
        return DeviceSetting(
            name: name, property: property,
            toGraph: { value in
                guard let sum = value.integer, sum >= 0, sum & ~known == 0 else { return nil }
                return .array(bits.filter { sum & $0.bit != 0 }.map { .string($0.place) })
            },
            toDevice: { value in
                let names = Set((value.array ?? []).compactMap(\.string))
                return .integer(bits.reduce(0) { names.contains($1.place) ? $0 | $1.bit : $0 })
            })
    }

    /// A list of texts.
    static func list(_ name: String, _ property: String) -> DeviceSetting {
        DeviceSetting(
            name: name, property: property,
            toGraph: { value in
                guard let list = value.array, list.allSatisfy({ $0.string != nil }) else { return nil }
                return value
            },
            toDevice: { $0.array.map { .array($0) } })
    }
}
