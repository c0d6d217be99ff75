internal import CordonBase

/// The groups that entries of the list name, as the system knows them now: an administrator may make, mend or open one while the
/// broker runs.
final class ListedGroups: Sendable {
    private struct Numbers {
        var numbers: Set<UInt32> = []
        var looked: ContinuousClock.Instant?
    }

    private let names: [String]
    private let lookUp: @Sendable (String) -> SystemGroup?
    private let known = Locked(Numbers())
    private let interval: Duration

    /// - Parameters:
    ///   - names: Names or numbers.
    ///   - interval: How long a look at all of them is good enough for turning strangers away.
    init(
        _ names: [String], lookingAgainAfter interval: Duration = .seconds(5),
        _ lookUp: @escaping @Sendable (String) -> SystemGroup? = { SystemGroup($0) }
    ) {
        self.names = Array(Set(names))
        self.interval = interval
        self.lookUp = lookUp
    }

    /// A group with its members of this moment; nil where there is none.
    subscript(name: String) -> SystemGroup? { lookUp(name) }

    /// Whether a number may be that of a listed group, by a look that is not older than the interval: programs that connect without end
    /// must not cost a look each.
    func mayInclude(_ number: UInt32) -> Bool {
        let fresh = known.withLock { [interval] in
            $0.looked.map { $0.advanced(by: interval) > .now } ?? false ? $0.numbers : nil
        }
        if let fresh { return fresh.contains(number) }
        let numbers = Set(names.compactMap { lookUp($0)?.number })
        known.withLock { $0 = Numbers(numbers: numbers, looked: .now) }
        return numbers.contains(number)
    }
}
