import CordonBase
import CordonProtocol
import Foundation

/// One measurement of the machine and its folders, for the metrics (SRV-CI-092).
public struct ServiceGauge: Sendable, Equatable {
    /// The metric's name, in the form of Prometheus.
    public var name: String
    /// What it says.
    public var help: String
    /// What tells several values of one metric apart, by its name.
    public var labels: [String: String]
    /// The value.
    public var value: Double

    /// Makes a measurement.
    public init(_ name: String, _ help: String, labels: [String: String] = [:], _ value: Double) {
        self.name = name
        self.help = help
        self.labels = labels
        self.value = value
    }
}

/// What the service counts; nothing of it names a person, an app or an address.
///
/// Bounded: routes are patterns, and all methods that no route has count as one.
final class ServiceMetrics: Sendable {
    struct Request: Hashable {
        var route: String
        var method: String
        var status: Int
    }

    /// Times of one route, in buckets that each hold what the smaller ones hold.
    struct Histogram {
        static let bounds: [Double] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

        var buckets = [Int](repeating: 0, count: bounds.count)
        var count = 0
        var sum = 0.0

        mutating func add(_ seconds: Double) {
            for (index, bound) in Self.bounds.enumerated() where seconds <= bound { buckets[index] += 1 }
            count += 1
            sum += seconds
        }
    }

    struct Counts {
        var requests: [Request: Int] = [:]
        var durations: [String: Histogram] = [:]
        // There from the start, so that a rate over them is no gap before the first.
        var checkIns: [Int: Int] = Dictionary(
            uniqueKeysWithValues: [EnrollmentStatus.policiesUnchanged, .newPolicies, .noPolicyTargeted, .wipeReceived]
                .map { ($0.rawValue, 0) })
        var wipeReports: [String: Int] = ["started": 0, "succeeded": 0, "failed": 0]
        var streams = 0
        var streamsOpened = 0
        var connections = 0
        var connectionsRefused = 0
        var gauges: [ServiceGauge] = []
        var conditions: [ServiceCondition] = []
    }

    let started: Date
    private let counts = Locked(Counts())

    init(started: Date) {
        self.started = started
    }

    private static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    /// Counts a request that was answered.
    func answered(_ method: String, route: String?, status: Int, seconds: Double) {
        let route = route ?? "none"
        let method = Self.methods.contains(method) ? method : "other"
        counts.withLock { counts in
            counts.requests[Request(route: route, method: method, status: status), default: 0] += 1
            counts.durations[route, default: Histogram()].add(seconds)
        }
    }

    /// Counts a check-in by its documented status.
    func checkedIn(_ status: Int) {
        counts.withLock { $0.checkIns[status, default: 0] += 1 }
    }

    /// Counts what an app reported of a wipe (SRV-TG-29).
    func reportedWipe(_ phase: String) {
        counts.withLock { $0.wipeReports[phase, default: 0] += 1 }
    }

    /// Counts an event stream that began.
    func streamOpened() {
        counts.withLock { counts in
            counts.streams += 1
            counts.streamsOpened += 1
        }
    }

    /// Counts an event stream that ended.
    func streamClosed() {
        counts.withLock { $0.streams -= 1 }
    }

    /// Counts a connection that was made.
    func connectionOpened() {
        counts.withLock { $0.connections += 1 }
    }

    /// Counts a connection that ended.
    func connectionClosed() {
        counts.withLock { $0.connections -= 1 }
    }

    /// Counts a connection that was closed because there were too many.
    func connectionRefused() {
        counts.withLock { $0.connectionsRefused += 1 }
    }

    /// Replaces what the program measures of its machine, and what an operator has to look at.
    func note(_ gauges: [ServiceGauge], _ conditions: [ServiceCondition]) {
        counts.withLock { counts in
            counts.gauges = gauges
            counts.conditions = conditions
        }
    }

    /// Everything that was counted.
    var snapshot: Counts { counts.withLock { $0 } }
}
