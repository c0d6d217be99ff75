internal import CordonBase

/// True for the first who asks.
struct OnceFlag: Sendable {
    private let isSet = Locked(false)

    func set() -> Bool {
        isSet.withLock { isSet in
            defer { isSet = true }
            return !isSet
        }
    }
}
