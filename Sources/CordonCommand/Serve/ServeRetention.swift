import CordonService

/// What is kept for a while, by the name that settings give it.
enum ServeRetention: String, CaseIterable {
    /// Registrations that have ended.
    case closedRegistrations
    /// Registrations that were wiped; until then a fresh sign-in is asked for.
    case wipedRegistrations
    /// Wipes and commands that have ended.
    case finishedWipes
    /// Alerts.
    case alerts
    /// Telemetry as it came.
    case telemetry
    /// Logs that were asked for.
    case logs

    private var place: WritableKeyPath<ServiceConfiguration, Duration> {
        switch self {
        case .closedRegistrations: \.closedRegistrationRetention
        case .wipedRegistrations: \.wipedRegistrationRetention
        case .finishedWipes: \.finishedWipeRetention
        case .alerts: \.alertRetention
        case .telemetry: \.telemetryRetention
        case .logs: \.logRetention
        }
    }

    /// The days of each, by name.
    static func days(of service: ServiceConfiguration) -> [String: Int64] {
        Dictionary(
            uniqueKeysWithValues: allCases.map { ($0.rawValue, service[keyPath: $0.place].components.seconds / 86_400) }
        )
    }

    /// Takes over days by name; the others stay as they are.
    ///
    /// - Throws: ``CommandFailure`` with status `badInput` for an unknown name, and for days that are not a number from 1 to 36,500.
    static func apply(_ days: [String: Int], to service: inout ServiceConfiguration) throws(CommandFailure) {
        for (name, days) in days.sorted(by: { $0.key < $1.key }) {
            guard let retention = ServeRetention(rawValue: name) else {
                throw CommandFailure(
                    .badInput, "retentionDays: \(name) is nothing that is kept",
                    hint: "use " + allCases.map(\.rawValue).joined(separator: ", "))
            }
            guard (1...36_500).contains(days) else {
                throw CommandFailure(.badInput, "retentionDays: \(name) is \(days)", hint: "use 1 to 36500")
            }
            service[keyPath: retention.place] = .seconds(days * 86_400)
        }
    }
}
