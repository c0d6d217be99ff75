/// A call on a file that the system refused; whoever makes one an error of its own says what it was for.
package struct FileFailure: Error, Sendable, Equatable {
    /// The system's error number.
    package let number: Int32

    /// States a failure.
    package init(_ number: Int32) { self.number = number }
}
