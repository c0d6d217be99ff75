internal import CordonBase
internal import Crypto

/// Key bytes in memory of their own: kept out of swap and core dumps where the system allows, zeroed at release and
/// on demand, and never printed.
final class SecretBytes: Sendable {
    /// How many bytes there are.
    let count: Int
    // Given back in deinit alone. The bytes change only in ``destroy()``. A reader at that moment may see zeros; `state` tells
    // ``withBytes(_:)`` afterwards to drop what was made of them.
    private let memory: GuardedMemory
    private let state = Locked(false)

    /// Takes memory for the secret and lets the body fill it.
    init(count: Int, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        self.count = count
        memory = GuardedMemory(count)
        fill(UnsafeMutableRawBufferPointer(rebasing: memory.bytes[..<count]))
    }

    /// A new random secret.
    static func random(_ count: Int = 32) -> SecretBytes {
        SecretBytes(count: count) { SecureRandom.fill($0) }
    }

    /// A copy of a key.
    convenience init(_ key: SymmetricKey) {
        self.init(count: key.bitCount / 8) { memory in
            key.withUnsafeBytes { memory.copyMemory(from: $0) }
        }
    }

    deinit { memory.giveBack() }

    /// Overwrites the secret; from then on ``withBytes(_:)`` gives nil, also for a body that is running.
    func destroy() {
        state.withLock { destroyed in
            memory.zero()
            destroyed = true
        }
    }

    /// Lends the bytes for the length of the call; nil when they were destroyed before its end.
    ///
    /// The lock is not held meanwhile, so a concurrent ``destroy()`` makes the body see zeros. Its result is dropped then: anyone can open
    /// what is sealed under zeros.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result? {
        if state.withLock({ $0 }) { return nil }
        let result = try body(UnsafeRawBufferPointer(rebasing: memory.bytes[..<count]))
        return state.withLock { $0 } ? nil : result
    }

    /// The secret as a key of the cryptographic library, which zeroes its own copy; nil when it was destroyed.
    var symmetricKey: SymmetricKey? {
        withBytes { SymmetricKey(data: $0) }
    }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says that there is a secret, and nothing of it.
    var description: String { "SecretBytes(redacted)" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
