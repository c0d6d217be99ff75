import CordonAEADShim
import Foundation

/// The cipher with nothing around it: what it adds to a read is the least that opening can add.
struct BareCipher {
    private let expanded: OpaquePointer

    init() throws {
        guard
            let expanded = [UInt8](repeating: 7, count: 32).withUnsafeBufferPointer({ cordon_aead_new($0.baseAddress) })
        else { throw CocoaError(.featureUnsupported) }
        self.expanded = expanded
    }

    func free() { cordon_aead_free(expanded) }

    /// The CPU time of opening one chunk of zeros so many times.
    func secondsToOpen(_ times: Int, chunksOf size: Int) throws -> Double {
        let (plain, nonce, context) = (
            [UInt8](repeating: 0, count: size), [UInt8](repeating: 1, count: 12), [UInt8](repeating: 2, count: 48)
        )
        var (sealed, opened, tag) = (plain, plain, [UInt8](repeating: 0, count: 16))
        guard cordon_aead_seal(expanded, &sealed, &tag, nonce, plain, size, context, context.count) == 1 else {
            throw CocoaError(.featureUnsupported)
        }
        return try Meter.seconds {
            for _ in 0..<times
            where cordon_aead_open(expanded, &opened, tag, nonce, sealed, size, context, context.count) != 1 {
                throw CocoaError(.fileReadCorruptFile)
            }
        }
    }
}
