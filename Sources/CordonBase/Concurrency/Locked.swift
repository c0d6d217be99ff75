#if canImport(os)
    internal import os

    /// A value behind a lock that any thread may take for a moment; the system's own lock, since iOS 17 lacks `Mutex`.
    package struct Locked<Value: Sendable>: Sendable {
        private let lock: OSAllocatedUnfairLock<Value>

        /// Puts the value behind a new lock.
        package init(_ value: Value) {
            lock = OSAllocatedUnfairLock(initialState: value)
        }

        /// Runs the body with exclusive access to the value.
        package func withLock<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
            lock.withLock(body)
        }
    }
#else
    internal import Synchronization

    /// A value behind a lock that any thread may take for a moment.
    package final class Locked<Value: Sendable>: Sendable {
        private let lock: Mutex<Value>

        /// Puts the value behind a new lock.
        package init(_ value: Value) {
            lock = Mutex(value)
        }

        /// Runs the body with exclusive access to the value.
        package func withLock<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
            lock.withLock { body(&$0) }
        }
    }
#endif
