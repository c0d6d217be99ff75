/// How many people and apps something reaches.
public struct Reach: Sendable, Codable, Equatable {
    /// The people.
    public var people: Int
    /// Their registrations.
    public var registrations: Int

    /// No person.
    public static let nobody = Reach(people: 0, registrations: 0)

    /// Makes a number.
    public init(people: Int, registrations: Int) {
        self.people = people
        self.registrations = registrations
    }

    /// Whether it is more than another number by more than a twentieth.
    func exceeds(_ ceiling: Reach) -> Bool {
        func allowed(_ number: Int) -> Int { number + number / 20 }
        return people > allowed(ceiling.people) || registrations > allowed(ceiling.registrations)
    }
}
