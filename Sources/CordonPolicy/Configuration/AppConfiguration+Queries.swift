extension AppConfiguration {
    /// How one truth value is made of several (SDK-CF-06).
    public enum BoolQuery: Sendable, Hashable {
        /// The first one.
        case any
        /// True when one is.
        case or
        /// True when all are.
        case and
    }

    /// How one number or text is made of several (SDK-CF-06).
    public enum OrderedQuery: Sendable, Hashable {
        /// The first one.
        case any
        /// The least; for text by the bytes of UTF-8.
        case min
        /// The greatest.
        case max
    }

    /// A number as it is read.
    public typealias Number = Double

    /// The truth value of a key; nil when none was assigned that can be read as one.
    public func bool(for key: String, _ query: BoolQuery = .any) -> Bool? {
        let values = allBools(for: key)
        guard let first = values.first else { return nil }
        return switch query {
        case .any: first
        case .or: values.contains(true)
        case .and: !values.contains(false)
        }
    }

    /// The number of a key; nil when none was assigned that can be read as one.
    public func number(for key: String, _ query: OrderedQuery = .any) -> Number? {
        let values = allNumbers(for: key)
        return switch query {
        case .any: values.first
        case .min: values.min()
        case .max: values.max()
        }
    }

    /// The text of a key; nil when none was assigned as one.
    public func string(for key: String, _ query: OrderedQuery = .any) -> String? {
        let values = allStrings(for: key)
        let precedes: (String, String) -> Bool = { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return switch query {
        case .any: values.first
        case .min: values.min(by: precedes)
        case .max: values.max(by: precedes)
        }
    }

    /// Every truth value of a key, in the order assigned; empty when there is none. `true`, `yes` and `1` are true, `false`,
    /// `no` and `0` false, as text in any letter case too.
    public func allBools(for key: String) -> [Bool] {
        values(for: key).compactMap(\.typedBool)
    }

    /// Every number of a key, in the order assigned; empty when there is none. A text counts where it is a decimal number,
    /// such as `-4`, `20` or `1.5`.
    public func allNumbers(for key: String) -> [Number] {
        values(for: key).compactMap(\.typedNumber)
    }

    /// Every text of a key, in the order assigned; empty when there is none.
    public func allStrings(for key: String) -> [String] {
        values(for: key).compactMap(\.string)
    }
}
