public import CordonProtocol
public import Foundation

/// Events of one person's app as they came, kept for thirty days (SRV-CI-075).
public struct TelemetryRecord: Sendable, Codable, Equatable {
    /// The id, random.
    public let id: String
    /// When they came.
    public let received: Date
    /// The person, by object id alone.
    public let userID: String
    /// The app.
    public let bundleID: String
    /// What happened.
    public let events: [ReportedEvent]

    /// Makes a record.
    public init(id: String, received: Date, userID: String, bundleID: String, events: [ReportedEvent]) {
        self.id = id
        self.received = received
        self.userID = userID
        self.bundleID = bundleID
        self.events = events
    }
}

extension TelemetryRecord: StoredRecord {
    /// Events.
    public static var storageKind: StorageKind { .telemetry }
    /// The id.
    public var storageID: String { id }
    /// The person.
    public var lookups: [StorageLookup: String] { [.user: folded(userID)] }
}

/// How many events of each kind came on one day; tells nothing of a person.
public struct TelemetryDay: Sendable, Codable, Equatable {
    /// The day in UTC, such as `2026-03-01`.
    public let day: String
    /// The number of events by kind.
    public var counts: [String: Int]

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
