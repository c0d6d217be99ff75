internal import CordonPolicy
internal import CordonProtocol
internal import Crypto
internal import Foundation

/// What figures count of one person, kept beside the records that it comes from and changed in the same transaction.
struct PersonStatus: Codable, Sendable, Equatable {
    /// One enrolled app.
    struct EnrolledApp: Codable, Sendable, Equatable {
        /// The folded bundle id.
        var app: String
        /// Whether something is wrong with it or its device.
        var isFlagged: Bool
        /// The ids of the policies that it said it has in force, ordered.
        var applied: [String]
        /// What is installed; nil for an app that a version before counted.
        var installation: StatusCount.Installation?
    }

    /// The folded object id.
    let person: String
    /// Whether the directory has the person.
    private(set) var isInDirectory: Bool
    /// Whether app protection serves the person.
    private(set) var isEntitled: Bool
    /// Whether an administrator has blocked the person.
    var isBlocked: Bool
    /// The folded ids of the groups that the person is directly in, ordered.
    private(set) var groups: [String]
    /// The active apps by registration.
    private(set) var apps: [String: EnrolledApp]

    /// Reads what holds now.
    init(of person: String, in records: some StorageReader) throws(ServiceError) {
        self.person = person
        (isInDirectory, isEntitled) = (false, false)
        isBlocked = try records.record(UserBlock.self, person) != nil
        groups = try records.directGroups(ofPerson: person).sorted()
        apps = [:]
        note(try records.record(DirectoryUser.self, person))
        for registration in try records.records(Registration.self, where: (.user, person)) { note(registration) }
    }

    /// Whether a version before counted an app of the person without what is installed.
    var lacksInstallations: Bool { apps.values.contains { $0.installation == nil } }

    /// Whether anything is counted of the person.
    var isCounted: Bool { isInDirectory || !apps.isEmpty }

    /// Takes down what the directory says, nil for nothing.
    mutating func note(_ user: DirectoryUser?) {
        isInDirectory = user != nil
        isEntitled = user?.isEntitled ?? false
    }

    /// Takes down a registration as it is now.
    mutating func note(_ registration: Registration) {
        apps[registration.id] =
            registration.state == .active
            ? EnrolledApp(
                app: folded(registration.application.bundleID), isFlagged: !registration.flags.isEmpty,
                applied: Set(registration.applied.map(\.id)).sorted(), installation: .init(registration))
            : nil
    }

    /// Takes down that a registration is gone.
    mutating func forget(registration id: String) { apps[id] = nil }

    /// Takes down that the person is directly in a group, or is not.
    mutating func note(inGroup group: String, _ isMember: Bool) {
        var all = Set(groups)
        if isMember { all.insert(group) } else { all.remove(group) }
        groups = all.sorted()
    }

    /// Where the person is counted, and how often: once as a person, once in each app, and with each app on a device.
    var places: [StatusCount.Place: Int] {
        guard isCounted else { return [:] }
        var places: [StatusCount.Place: Int] = [:]
        var applied: [String: Set<String>] = [:]
        for app in apps.values {
            applied[app.app, default: []].formUnion(app.applied)
            if let installation = app.installation { places[.installed(installation), default: 0] += 1 }
        }
        for (app, policies) in applied { places[.app(app, applied: policies.sorted())] = 1 }
        let kind = StatusCount.Kind(
            isInDirectory: isInDirectory, isEntitled: isEntitled, isBlocked: isBlocked,
            isFlagged: apps.values.contains(where: \.isFlagged), hasApps: !apps.isEmpty,
            applied: Set(applied.values.joined()).sorted(), groups: groups)
        places[.person(kind)] = 1
        return places
    }
}

extension PersonStatus: StoredRecord {
    /// Standings.
    static var storageKind: StorageKind { .standing }
    /// The person's folded object id.
    var storageID: String { person }
}

/// How many people are alike in everything that figures ask about (SRV-TG-38, 41).
///
/// Who is assigned depends on policies as well, and is worked out for each kind of people rather than for each of them: a change of a
/// policy counts no person anew.
struct StatusCount: Codable, Sendable, Equatable {
    /// What people may have in common.
    struct Kind: Codable, Sendable, Hashable {
        /// Whether the directory has them.
        var isInDirectory: Bool
        /// Whether app protection serves them.
        var isEntitled: Bool
        /// Whether an administrator has blocked them.
        var isBlocked: Bool
        /// Whether something is wrong with an app of theirs or its device.
        var isFlagged: Bool
        /// Whether they have an active app.
        var hasApps: Bool
        /// The ids of the policies in force in any app of theirs, ordered.
        var applied: [String]
        /// The folded ids of the groups that they are directly in, ordered.
        var groups: [String]
    }

    /// An app on a device, by what filters and reports of versions ask about.
    struct Installation: Codable, Sendable, Hashable {
        /// The folded bundle id.
        let app: String
        /// The app's version.
        let version: String
        /// The version of the protection library.
        let library: String
        /// The version of the system.
        let system: String
        /// The device's model.
        let model: String
        /// Whether the device's management has configured the app.
        let isManaged: Bool

        init(_ registration: Registration) {
            app = folded(registration.application.bundleID)
            version = registration.application.version
            library = registration.application.sdkVersion
            system = registration.device.osVersion
            model = registration.device.model
            isManaged = registration.application.management == .mdm
        }
    }

    /// What is counted.
    enum Place: Codable, Sendable, Hashable {
        /// People of a kind.
        case person(Kind)
        /// People with an app, by folded bundle id, and the ids of the policies in force in it.
        case app(String, applied: [String])
        /// Apps on devices that are alike.
        case installed(Installation)

        /// What the ids of counts of people begin with, alone and in an app, and those of apps on devices.
        static let (person, app, installed) = ("person/", "app/", "installed/")

        /// The id of its count.
        var id: String {
            switch self {
            case .person(let kind):
                let flags = [kind.isInDirectory, kind.isEntitled, kind.isBlocked, kind.isFlagged, kind.hasApps]
                let text = flags.map { $0 ? "1" : "0" }.joined()
                return Self.person
                    + Self.digest([text, kind.applied.joined(separator: ","), kind.groups.joined(separator: ",")])
            case .app(let app, let applied): return Self.app + Self.digest([app, applied.joined(separator: ",")])
            case .installed(let one):
                return Self.installed
                    + Self.digest([one.app, one.version, one.library, one.system, one.model, "\(one.isManaged)"])
            }
        }

        private static func digest(_ parts: [String]) -> String {
            let digits = Array("0123456789abcdef".utf8)
            var text: [UInt8] = []
            for byte in SHA256.hash(data: Data(parts.joined(separator: "\n").utf8)) {
                text += [digits[Int(byte >> 4)], digits[Int(byte & 0x0F)]]
            }
            return String(decoding: text, as: UTF8.self)
        }
    }

    /// What is counted.
    let place: Place
    /// How many people; of what is installed, how many apps on devices.
    var people: Int
}

extension StatusCount: StoredRecord {
    /// Counts.
    static var storageKind: StorageKind { .standingCount }
    /// The id of what is counted.
    var storageID: String { place.id }
}

/// People whom a large change has left to be counted behind it.
struct StatusBacklog: Codable, Sendable, Equatable {
    /// The most people that one record names.
    static let most = 500

    /// The id, random.
    let id: String
    /// The folded object ids.
    var people: [String]
}

extension StatusBacklog: StoredRecord {
    /// What is left.
    static var storageKind: StorageKind { .standingBacklog }
    /// The id.
    var storageID: String { id }
}
