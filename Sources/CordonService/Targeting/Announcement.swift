public import Foundation

/// A change that apps are still to be told of: saved with the change itself, worked off behind it in small steps, and removed
/// once every app that it concerns was told.
///
/// It says where to look, never what an app gets: each step compares what an app should have now with what it was told last.
/// So a step that is done twice tells nothing twice, one that runs late tells what holds then, and none is lost with the process.
public struct Announcement: Sendable, Codable, Equatable {
    /// The id; in the order of the seconds in which the changes were made.
    public let id: String
    /// When the change was made.
    public let made: Date
    /// The apps that it is about, by folded bundle id; nil for any.
    let apps: [String]?
    /// The parts that are still to be looked through, nil before the first step.
    private(set) var parts: [Part]?
    /// The groups whose people it is about; nil for all people.
    let groups: [String]?
    /// Where in the first part to go on, nil at its beginning.
    private(set) var position: String?

    /// Some of the registrations.
    enum Part: Sendable, Codable, Equatable {
        /// Every one.
        case everybody
        /// Those of an app.
        case app(String)
        /// Those of the people who are directly in a group.
        case group(String)
        /// Those of some people.
        case people([String])
    }

    /// The most people that one announcement names.
    static let mostPeople = 256

    /// Makes the announcement of a change of policies.
    init(id: String, made: Date, apps: [String]?, groups: [String]?) {
        self.id = id
        self.made = made
        self.apps = apps
        self.groups = groups
    }

    /// Makes the announcement of a change of people.
    init(id: String, made: Date, people: [String]) {
        self.init(id: id, made: made, apps: nil, groups: nil)
        parts = [.people(people)]
    }

    /// Divides the work.
    mutating func divide(into parts: [Part]) { self.parts = parts }

    /// The part under way and where to go on in it, nil when all is done.
    var next: (part: Part, position: String?)? { parts?.first.map { ($0, position) } }

    /// Goes on after a place of the part under way, or with the next part.
    mutating func goOn(after position: String?) {
        self.position = position
        if position == nil { parts?.removeFirst() }
    }
}

extension Announcement: StoredRecord {
    /// Announcements.
    public static var storageKind: StorageKind { .announcement }
    /// The id.
    public var storageID: String { id }
}
