#if canImport(os)
    package import os

    /// A value behind a lock that any thread may take for a moment; the system's own lock, since iOS 17 lacks `Mutex`.
    package struct Locked<Value: Sendable>: Sendable {
        @usableFromInline let lock: OSAllocatedUnfairLock<Value>

        /// Puts the value behind a new lock.
        package init(_ value: Value) {
            lock = OSAllocatedUnfairLock(initialState: value)
        }

        /// Runs the body with exclusive access to the value. Inlined: through a value of unknown type the lock would cost more than
        /// a verdict does.
        @inlinable
        package func withLock<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
            lock.withLock(body)
        }
    }
#else
    package import Synchronization

    /// A value behind a lock that any thread may take for a moment.
    package final class Locked<Value: Sendable>: Sendable {
        @usableFromInline let lock: Mutex<Value>

        /// Puts the value behind a new lock.
        package init(_ value: Value) {
            lock = Mutex(value)
        }

        /// Runs the body with exclusive access to the value. Inlined: through a value of unknown type the lock would cost more than
        /// a verdict does.
        @inlinable
        package func withLock<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
            lock.withLock { body(&$0) }
        }
    }
#endif
