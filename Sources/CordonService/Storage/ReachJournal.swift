internal import CordonBase
internal import CordonIdentity

/// Who came, went or got an app lately: what was counted outside the writer is brought up to date inside it by looking at them
/// again, and at no other person.
///
/// Changes note people in their own transaction, one after the other. What a transaction notes that is rolled back does no harm: these
/// people are looked at once more than they had to be.
struct ReachJournal: Sendable {
    /// The most people that are remembered of an organisation.
    static let most = 2_000

    private struct Notes {
        var last: Int64 = 0
        var durable: Int64 = 0
        var recent: [(number: Int64, person: String)] = []
    }

    private let notes = Locked<[TenantID: Notes]>([:])

    /// Notes people by their folded ids.
    func note(_ people: some Sequence<String>, of tenant: TenantID) {
        let people = Array(people)
        notes.withLock { notes in
            var known = notes[tenant] ?? Notes()
            for person in people {
                known.last += 1
                known.recent.append((known.last, person))
            }
            // Twice as many before some are forgotten, so that not every note moves all others.
            if known.recent.count > 2 * Self.most { known.recent.removeFirst(known.recent.count - Self.most) }
            notes[tenant] = known
        }
    }

    /// The number of the last note: in a writer's turn, of all notes of this change and of those before.
    func last(of tenant: TenantID) -> Int64 { notes.withLock { $0[tenant]?.last ?? 0 } }

    /// Says that the changes whose notes go up to a number are kept or undone: every later reader sees what they did.
    func finish(upTo number: Int64, of tenant: TenantID) {
        notes.withLock { notes in
            guard let known = notes[tenant]?.durable, known < number else { return }
            notes[tenant]?.durable = number
        }
    }

    /// Where to begin: what was noted up to here is in whatever is read from now on.
    func mark(of tenant: TenantID) -> Int64 { notes.withLock { $0[tenant]?.durable ?? 0 } }

    /// Who was noted after a mark; nil where more were than are remembered.
    func people(since mark: Int64, of tenant: TenantID) -> Set<String>? {
        notes.withLock { notes in
            guard let known = notes[tenant], known.last > mark else { return [] }
            guard let oldest = known.recent.first?.number, oldest <= mark + 1 else { return nil }
            return Set(known.recent.lazy.reversed().prefix { $0.number > mark }.map(\.person))
        }
    }
}
