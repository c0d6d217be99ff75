public import CordonProtocol
public import Foundation

/// Events of one person's app on one day as they came, kept until the thirtieth day after (SRV-CI-075).
public struct TelemetryRecord: Sendable, Codable, Equatable {
    /// The id: day, person and app.
    public let id: String
    /// The day in UTC on which they came.
    public let day: String
    /// When the newest came.
    public internal(set) var received: Date
    /// The person, by object id alone.
    public let userID: String
    /// The app.
    public let bundleID: String
    /// What happened.
    public internal(set) var events: [ReportedEvent]

    /// The most events of one person and app that are kept of one day.
    static let mostEvents = 1_000

    /// Makes a record without events.
    init(day: String, received: Date, userID: String, bundleID: String) {
        self.id = Self.id(day, userID, bundleID)
        self.day = day
        self.received = received
        self.userID = userID
        self.bundleID = bundleID
        self.events = []
    }

    /// The id of a person's and app's record of a day.
    static func id(_ day: String, _ userID: String, _ bundleID: String) -> String {
        "\(day)/\(folded(userID))/\(folded(bundleID))"
    }

    /// Parts of a day's records, for reading one after the other.
    static func slices(of day: String) -> [String] { (0..<16).map { "\(day)/\($0)" } }

    /// The slice that the record is in.
    fileprivate var slice: String {
        let number = folded(userID).utf8.reduce(0 as UInt32) { $0 &* 31 &+ UInt32($1) } % 16
        return "\(day)/\(number)"
    }
}

extension TelemetryRecord: StoredRecord {
    /// Events.
    public static var storageKind: StorageKind { .telemetry }
    /// The id.
    public var storageID: String { id }
    /// The person, and the slice of the day.
    public var lookups: [StorageLookup: String] { [.user: folded(userID), .day: slice] }
}

/// How many events of each kind came on one day; tells nothing of a person.
public struct TelemetryDay: Sendable, Codable, Equatable {
    /// The day in UTC, such as `2026-03-01`.
    public let day: String
    /// The number of events by kind.
    public var counts: [String: Int]
    /// True once the events themselves were removed; nil before.
    var isCleared: Bool?

    /// Makes a day.
    public init(day: String, counts: [String: Int] = [:]) {
        self.day = day
        self.counts = counts
    }

    /// Adds events.
    mutating func add(_ events: [ReportedEvent]) {
        for event in events { counts[event.kind.rawValue, default: 0] += 1 }
    }

    /// The day of a moment.
    static func name(of moment: Date) -> String {
        moment.formatted(.iso8601.year().month().day().dateSeparator(.dash))
    }
}

extension TelemetryDay: StoredRecord {
    /// Days.
    public static var storageKind: StorageKind { .telemetryDay }
    /// The day.
    public var storageID: String { day }
}
