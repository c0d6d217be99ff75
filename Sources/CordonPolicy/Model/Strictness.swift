/// A setting's member values, declared from the strictest to the most permissive.
///
/// The order of the cases is the order of column *Stricter* in the specification, and merging follows it.
public protocol StrictnessOrdered: RawRepresentable, CaseIterable, Hashable, Sendable where RawValue == String {
    /// The value taken for a member that this version does not know (SRV-RS-008): it must deny.
    static var whenUnknown: Self { get }
}

extension StrictnessOrdered {
    /// The strictest member.
    public static var whenUnknown: Self { allCases[allCases.startIndex] }

    /// 0 for the strictest.
    var rank: Int { Self.allCases.enumerated().first { $0.element == self }?.offset ?? 0 }

    /// The stricter of two.
    func stricter(_ other: Self) -> Self { rank <= other.rank ? self : other }

    /// The member of that name in any letter case.
    static func named(_ name: String) -> Self? {
        Self(rawValue: name) ?? allCases.first { $0.rawValue.lowercased() == name.lowercased() }
    }
}
