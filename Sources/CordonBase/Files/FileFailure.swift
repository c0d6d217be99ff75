package import Foundation

/// A call on a file that the system refused; callers make it an error of their own that says what the call was for.
package typealias FileFailure = POSIXError

extension POSIXError {
    /// States a failure with the system's error number.
    package init(_ number: Int32) { self.init(POSIXErrorCode(rawValue: number) ?? .EIO) }

    /// The system's error number.
    package var number: Int32 { code.rawValue }
}
