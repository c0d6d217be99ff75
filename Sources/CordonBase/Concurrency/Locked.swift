#if canImport(os)
    public import os

    /// A value behind a lock that any thread may take for a moment; the system's own lock, since iOS 17 lacks `Mutex`. Public for the
    /// reason that is told below.
    public struct Locked<Value: Sendable>: Sendable {
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
#elseif CORDON_SANITIZED
    public import Glibc

    /// The lock of a build with the thread sanitizer, which follows a pthread lock and does not see that `Mutex` locks.
    ///
    /// The value is touched only while the lock is held, hence the opt-out.
    public final class Locked<Value: Sendable>: @unchecked Sendable {
        @usableFromInline var value: Value
        @usableFromInline let lock: UnsafeMutablePointer<pthread_mutex_t>

        /// Puts the value behind a new lock.
        package init(_ value: Value) {
            self.value = value
            lock = .allocate(capacity: 1)
            lock.initialize(to: pthread_mutex_t())
            pthread_mutex_init(lock, nil)
        }

        deinit {
            pthread_mutex_destroy(lock)
            lock.deallocate()
        }

        /// Runs the body with exclusive access to the value.
        @inlinable
        package func withLock<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return body(&value)
        }
    }
#else
    public import Synchronization

    /// A value behind a lock that any thread may take for a moment.
    ///
    /// Public, though nothing outside the package sees this module: other modules cannot specialise a package-internal generic type for
    /// their own values, and an unspecialised lock costs three times as much.
    ///
    /// What is allocated is of one type for all values. A class of each type of value would be put together at run time, with the types
    /// that it is made of, when an app starts.
    public struct Locked<Value: Sendable>: Sendable {
        @usableFromInline let storage: LockedStorage

        /// Puts the value behind a new lock.
        @inlinable
        package init(_ value: Value) {
            let place = UnsafeMutablePointer<Value>.allocate(capacity: 1)
            place.initialize(to: value)
            storage = LockedStorage(place) { place in
                let place = place.assumingMemoryBound(to: Value.self)
                place.deinitialize(count: 1)
                place.deallocate()
            }
        }

        /// Runs the body with exclusive access to the value. Inlined: through a value of unknown type the lock would cost more than
        /// a verdict does.
        @inlinable
        package func withLock<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
            storage.lock.withLock { _ in body(&storage.place.assumingMemoryBound(to: Value.self).pointee) }
        }
    }

    /// A lock, and the place of the value that it guards.
    @usableFromInline
    final class LockedStorage: Sendable {
        @usableFromInline let lock = Mutex(())
        // What lies there is touched only while the lock is held, hence the opt-out.
        @usableFromInline nonisolated(unsafe) let place: UnsafeMutableRawPointer
        private let end: @Sendable (UnsafeMutableRawPointer) -> Void

        /// - Parameter end: Destroys the value and frees its place.
        @usableFromInline
        init(_ place: UnsafeMutableRawPointer, end: @escaping @Sendable (UnsafeMutableRawPointer) -> Void) {
            self.place = place
            self.end = end
        }

        deinit { end(place) }
    }
#endif
