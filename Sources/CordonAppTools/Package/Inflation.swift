import CordonZlibShim
import Foundation

/// Unpacking of raw deflate data (RFC 1951) in pieces of bounded size.
enum Inflation {
    private static let pieceSize = 256 << 10

    /// Hands the unpacked bytes on, piece by piece.
    /// - Throws: `malformed` for data that is damaged, ends early or goes on after its end.
    static func unpack(
        _ data: Data, named name: String, into take: (UnsafeRawBufferPointer) throws(AppToolsError) -> Void
    ) throws(AppToolsError) {
        guard let inflater = cordon_inflater_make() else { throw noMemory(name) }
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 16)
        defer {
            cordon_inflater_free(inflater)
            output.deallocate()
        }
        var hasEnded = false
        try data.forEachPiece { input throws(AppToolsError) in
            var rest = input
            while !rest.isEmpty {
                guard !hasEnded else { throw AppToolsError(.malformed, "goes on after its end", at: name) }
                var taken = UInt32(rest.count)
                var isFull = true
                // Output may be waiting although all input was taken.
                while isFull, !hasEnded {
                    var made = UInt32(output.count)
                    let status = cordon_inflater_step(
                        inflater, output.assumingMemoryBound(to: UInt8.self).baseAddress, &made,
                        rest.assumingMemoryBound(to: UInt8.self).baseAddress, &taken)
                    guard status != CORDON_INFLATE_NO_MEMORY else { throw noMemory(name) }
                    guard status != CORDON_INFLATE_MALFORMED || made == 0 && taken == 0 && rest.isEmpty else {
                        throw AppToolsError(.malformed, "is damaged", at: name)
                    }
                    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(Int(taken)))
                    taken = UInt32(rest.count)
                    hasEnded = status == CORDON_INFLATE_ENDED
                    isFull = made == UInt32(output.count)
                    try take(UnsafeRawBufferPointer(rebasing: output.prefix(Int(made))))
                }
            }
        }
        guard hasEnded else { throw AppToolsError(.malformed, "ends early", at: name) }
    }

    private static func noMemory(_ name: String) -> AppToolsError {
        AppToolsError(.unwritable, "there is no memory to unpack", at: name)
    }
}

extension Data {
    /// The bytes in pieces of at most a megabyte, so that a mapped file is never in memory as a whole.
    func forEachPiece(_ body: (UnsafeRawBufferPointer) throws(AppToolsError) -> Void) throws(AppToolsError) {
        let failure = withUnsafeBytes { bytes -> AppToolsError? in
            var rest = bytes[...]
            while !rest.isEmpty {
                do throws(AppToolsError) {
                    try body(UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 20)))
                } catch { return error }
                rest = rest.dropFirst(1 << 20)
            }
            return nil
        }
        if let failure { throw failure }
    }
}
