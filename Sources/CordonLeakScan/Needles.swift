internal import Foundation

/// The values of a scan in every form, ordered for a search that looks at each byte once.
struct Needles: Sendable {
    struct Needle: Sendable, Hashable {
        let index: Int
        let form: Leaks.Form
        let bytes: [UInt8]
    }

    static let shortest = 8

    /// By their first eight bytes.
    private let byStart: [UInt64: [Needle]]
    /// Whether a needle begins with two bytes, first byte lowest: what nearly every place of a file is turned away by.
    private let beginnings: [Bool]
    let longest: Int

    init?(_ values: [Data]) {
        let all = Self.all(of: values)
        guard all.allSatisfy({ $0.bytes.count >= Self.shortest }) else { return nil }
        self.init(all)
    }

    /// Values that are long enough in every form.
    init(checked values: [Data]) {
        self.init(Self.all(of: values))
    }

    private init(_ all: Set<Needle>) {
        byStart = Dictionary(grouping: all) { $0.bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) } }
        var beginnings = [Bool](repeating: false, count: 1 << 16)
        for needle in all { beginnings[Int(needle.bytes[0]) | Int(needle.bytes[1]) << 8] = true }
        self.beginnings = beginnings
        longest = all.map(\.bytes.count).max() ?? 0
    }

    /// Calls `found` for each needle that stands whole in the bytes.
    func search(_ bytes: UnsafeRawBufferPointer, _ found: (Needle) -> Void) {
        guard let start = bytes.baseAddress, bytes.count >= Self.shortest else { return }
        beginnings.withUnsafeBufferPointer { table in
            guard let table = table.baseAddress else { return }
            let signs = start.assumingMemoryBound(to: UInt8.self)
            var place = 0
            let last = bytes.count - Self.shortest
            while place <= last {
                if table[Int(signs[place]) | Int(signs[place + 1]) << 8],
                    let candidates = byStart[(start + place).loadUnaligned(as: UInt64.self)]
                {
                    for needle in candidates where needle.bytes.count <= bytes.count - place {
                        if memcmp(needle.bytes, start + place, needle.bytes.count) == 0 { found(needle) }
                    }
                }
                place += 1
            }
        }
    }

    private static func all(of values: [Data]) -> Set<Needle> {
        Set(values.enumerated().flatMap { forms(of: [UInt8]($1), $0) })
    }

    private static func forms(of value: [UInt8], _ index: Int) -> [Needle] {
        var needles = [Needle(index: index, form: .plain, bytes: value)]
        if let text = String(validating: value, as: UTF8.self) {
            let wide = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
            needles.append(Needle(index: index, form: .utf16, bytes: wide))
        }
        for alphabet in ["0123456789abcdef", "0123456789ABCDEF"] {
            let digits = Array(alphabet.utf8)
            let text = value.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
            needles.append(Needle(index: index, form: .hexadecimal, bytes: text))
        }
        for offset in 0..<3 {
            // Digits that also hold bits of what stands before or after the value are left out.
            let encoded = Data([UInt8](repeating: 0, count: offset) + value).base64EncodedString().utf8
            let own = Array(encoded)[(offset * 8 + 5) / 6..<(offset + value.count) * 8 / 6]
            for digits in [
                Array(own),
                own.map {
                    $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
                },
            ] {
                needles.append(Needle(index: index, form: .base64, bytes: digits))
            }
        }
        return needles
    }
}

/// Reads one run of bytes part by part, and finds what stands across two parts too.
struct LeakSearch {
    struct Hit: Hashable {
        let index: Int
        let form: Leaks.Form
    }

    private let needles: Needles
    private var rest: [UInt8] = []
    private(set) var found: Set<Hit> = []
    private(set) var bytes = 0

    init(_ needles: Needles) {
        self.needles = needles
    }

    /// Starts another run: what came before does not touch what comes next.
    mutating func begin() {
        rest = []
    }

    mutating func read(_ part: Data) {
        bytes += part.count
        let all = rest + part
        var hits: Set<Hit> = []
        all.withUnsafeBytes { needles.search($0) { hits.insert(Hit(index: $0.index, form: $0.form)) } }
        found.formUnion(hits)
        rest = Array(all.suffix(max(0, needles.longest - 1)))
    }
}
