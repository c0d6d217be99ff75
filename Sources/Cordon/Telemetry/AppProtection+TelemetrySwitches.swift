internal import CordonBase
internal import CordonIdentity

/// Telemetry is on only while none of its three switches is off (SRV-CI-074).
extension AppProtection {
    /// Whether telemetry is on: not switched off in the settings, by the app or its person, or by an organisation.
    public var isTelemetryEnabled: Bool {
        configuration.telemetryEnabled && !settings.telemetryDisabled && life.telemetryEnabled
            && !rules.withLock { $0.accounts.values.contains { $0.delivery.telemetryDisabled } }
    }

    /// Whether optional events may leave the app: the person agreed, and no organisation wants less (SRV-CI-074).
    var sendsOptionalTelemetry: Bool {
        configuration.sendsOptionalTelemetry
            && !rules.withLock { $0.accounts.values.contains { $0.delivery.refusesOptionalTelemetry } }
    }

    /// Switches telemetry on or off for the person in front of the app; kept across launches (SDK-TE-03).
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    public func setTelemetryEnabled(_ isEnabled: Bool) throws(ProtectionError) {
        try changeLife { $0.telemetryEnabled = isEnabled }
    }
}
