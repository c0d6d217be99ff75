import CordonZlibShim
package import Foundation
package import HTTPTypes

/// gzip as a content coding (RFC 9110 §8.4.1.3), of bodies that are whole in memory (SRV-OP-015).
package enum GzipCoding {
    /// Smaller answers gain nothing.
    package static let smallest = 1 << 10

    /// What came of unpacking.
    enum Unpacked: Equatable {
        case bytes(Data)
        case tooLarge
        case malformed
        /// There was no memory for it.
        case noMemory
    }

    /// Unpacks one gzip file that is the whole of the bytes; never makes more than the limit, however it was packed.
    static func unpack(_ packed: Data, atMost limit: Int) -> Unpacked {
        // One more than allowed, so that exactly the limit can be told from more.
        var out = [UInt8](repeating: 0, count: limit + 1)
        let packed = [UInt8](packed)
        let count = cordon_gunzip(&out, out.count, packed, packed.count)
        if count == CORDON_GUNZIP_TOO_LARGE || count > limit { return .tooLarge }
        if count == CORDON_GUNZIP_NO_MEMORY { return .noMemory }
        return count < 0 ? .malformed : .bytes(Data(out[..<count]))
    }

    /// The bytes packed; nil where that would not make them smaller.
    package static func pack(_ bytes: Data) -> Data? {
        guard bytes.count >= smallest else { return nil }
        let bytes = [UInt8](bytes)
        var out = [UInt8](repeating: 0, count: cordon_gzip_bound(bytes.count))
        let count = cordon_gzip(&out, out.count, bytes, bytes.count)
        return count > 0 && count < bytes.count ? Data(out[..<count]) : nil
    }

    /// Whether a client takes gzip: named without `q=0`, or `*` where it is not named (RFC 9110 §12.5.3).
    package static func isAccepted(by headers: HTTPFields) -> Bool {
        var byName: Bool?
        var byAny = false
        for part in headers[values: .acceptEncoding].joined(separator: ",").lowercased().split(separator: ",") {
            let pieces = part.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
            let weight = pieces.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            switch pieces.first {
            case "gzip", "x-gzip": byName = weight > 0
            case "*": byAny = weight > 0
            default: break
            }
        }
        return byName ?? byAny
    }
}
