import Foundation

extension FixedWidthInteger {
    /// The bytes, highest first.
    var bigBytes: Data { withUnsafeBytes(of: bigEndian) { Data($0) } }
    /// The bytes, lowest first.
    var littleBytes: Data { withUnsafeBytes(of: littleEndian) { Data($0) } }
}
