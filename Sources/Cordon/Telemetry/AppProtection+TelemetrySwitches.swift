internal import CordonBase
internal import CordonIdentity

/// Telemetry is on only while none of its three switches is off (SRV-CI-074).
extension AppProtection {
    /// Whether telemetry is on: not switched off in the settings, by the app or its person, or by an organisation.
    public var isTelemetryEnabled: Bool { telemetry.isOn }

    /// Switches telemetry on or off for the person in front of the app; kept across launches (SDK-TE-03).
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    public func setTelemetryEnabled(_ isEnabled: Bool) throws(ProtectionError) {
        try pending.change { $0.telemetryEnabled = isEnabled }
    }
}
