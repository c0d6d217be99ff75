/// A processor type with its variant, as Mach-O headers number them.
public struct CPUType: Hashable, Sendable, CustomStringConvertible {
    let type: UInt32
    let subtype: UInt32

    /// Makes a processor type from the numbers in a header; capability bits of the subtype do not count.
    init(type: UInt32, subtype: UInt32) {
        self.type = type
        self.subtype = subtype & 0x00FF_FFFF
    }

    /// The name tools print, such as `arm64`.
    public var description: String {
        Self.names.first { $0.cpu == self }?.name ?? "cpu-\(type)-\(subtype)"
    }

    /// The processor type with a name such as `arm64e`; nil for names not known.
    public init?(named name: String) {
        guard let cpu = Self.names.first(where: { $0.name == name })?.cpu else { return nil }
        self = cpu
    }

    /// Power of two that tools align slices of this type to (TL-MO-03).
    var alignment: UInt32 { type == 0x0100_000C || type == 0x0200_000C || type == 12 ? 14 : 12 }

    private static let names: [(cpu: CPUType, name: String)] = [
        (CPUType(type: 0x0100_000C, subtype: 0), "arm64"), (CPUType(type: 0x0100_000C, subtype: 1), "arm64v8"),
        (CPUType(type: 0x0100_000C, subtype: 2), "arm64e"), (CPUType(type: 0x0200_000C, subtype: 1), "arm64_32"),
        (CPUType(type: 0x0100_0007, subtype: 3), "x86_64"), (CPUType(type: 0x0100_0007, subtype: 8), "x86_64h"),
        (CPUType(type: 7, subtype: 3), "i386"), (CPUType(type: 12, subtype: 9), "armv7"),
        (CPUType(type: 12, subtype: 11), "armv7s"), (CPUType(type: 12, subtype: 12), "armv7k"),
        (CPUType(type: 12, subtype: 6), "armv6"),
    ]
}
