internal import CordonBase
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

/// What an envelope brings besides the rules: configuration, the allow list, working time, pins.
struct Delivery: Sendable, Equatable {
    /// The app configuration.
    var configuration = AppConfiguration.empty
    /// The administrator's list, by id and by name; nil for no restriction.
    var allowedAccounts: [PolicyEnvelope.AllowedAccount]?
    /// The person's working time.
    var workingTime: WorkingTime?
    /// The pins of the organisation's hosts.
    var pins = CertificatePins()
    /// How the service sees the device's compliance; nil for compliant (SRV-CI-010).
    var compliance: ComplianceReport?
    /// Whether the organisation wants no telemetry.
    var telemetryDisabled = false
    /// Whether the organisation has said that it wants required telemetry at most (SRV-CI-074).
    var refusesOptionalTelemetry = false
    /// What the service asks of every app (SRV-CI-016).
    var service = ServiceSettings.usual
    /// Whether the organisation may have said more than is known here, such as which accounts the app may hold: the record is gone, or not
    /// the one that was written last.
    private(set) var isUnknown = false

    /// What counts where it is not known what was delivered, until the service says it again (decision 142).
    static let unknown: Delivery = {
        var delivery = Delivery()
        (delivery.isUnknown, delivery.telemetryDisabled, delivery.refusesOptionalTelemetry) = (true, true, true)
        return delivery
    }()

    /// Nothing delivered.
    init() {}

    /// What an envelope brings.
    init(_ envelope: PolicyEnvelope) {
        configuration = AppConfiguration(envelope.configurations.compactMap(Self.targeted))
        allowedAccounts = envelope.allowedAccounts
        workingTime = envelope.workingTime
        let configured = CertificatePins(configuration)
        pins =
            envelope.certificatePins.map { hosts in
                CertificatePins(hosts.mapValues { pins in Set(pins.map { Base64URL.decode($0) ?? Data() }) })
                    .joined(with: configured)
            } ?? configured
        compliance = envelope.compliance
        telemetryDisabled = envelope.telemetryDisabled ?? false
        service = envelope.service ?? .usual
        refusesOptionalTelemetry = envelope.service.map { $0.telemetry != .optional } ?? false
    }

    /// A delivered dictionary; one mark tells the organisation's defaults from what was targeted (SDK-CF-03), the other which
    /// configuration it is. Neither is a value that an administrator assigned.
    private static func targeted(_ dictionary: JSONValue) -> TargetedAppConfiguration? {
        guard var values = dictionary.object else { return nil }
        let mark = values.removeValue(forKey: "__IsDefault")
        let source = values.removeValue(forKey: "__source")?.string
        return TargetedAppConfiguration(id: source ?? "", values: values, isDefault: mark == .bool(true))
    }
}
