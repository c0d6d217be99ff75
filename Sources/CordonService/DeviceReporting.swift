public import CordonProtocol
public import Foundation

/// What enrolled apps report besides check-ins; every call throws ``ServiceError`` as ``DeviceService`` does.
public protocol DeviceReporting: Sendable {
    /// Looks at compliance anew, with what the device finds wrong with itself now (SRV-CI-022).
    func compliance(_ request: RemediationRequest, registration id: String, by caller: DeviceCaller)
        async throws(ServiceError) -> ComplianceReport

    /// Closes a registration and notes what the app says about it (SRV-CI-013); nil where it says nothing.
    ///
    /// - Throws: ``ServiceError`` with code `conflict` while a wipe is under way.
    func unregister(_ id: String, report: UnenrollmentReport?, by caller: DeviceCaller) async throws(ServiceError)

    /// Takes events of the registration that the caller's key belongs to, as far as the organisation wants them; the
    /// number that was kept (SRV-CI-023).
    ///
    /// Of one person and app no more than 1,000 events are kept of one day; what comes after is left out.
    ///
    /// - Throws: ``ServiceError``: `invalid` naming each event that is refused, and then nothing is kept; status 213
    ///   where the key has no registration.
    func acceptTelemetry(_ batch: TelemetryBatch, by caller: DeviceCaller) async throws(ServiceError) -> Int

    /// Takes a piece of logs that were asked for; the number of bytes that are here now (SRV-CI-024).
    ///
    /// A piece that is here already changes nothing, so that an upload can go on after it broke off; an
    /// empty one only asks how much is here.
    ///
    /// - Parameters:
    ///   - offset: Where the piece begins.
    ///   - total: The bytes of the whole upload.
    /// - Throws: ``ServiceError``: `notFound` when nobody asked or the time is over, `conflict` when bytes are missing
    ///   before the offset, `invalid` when it is too large.
    func receiveLogs(
        _ piece: Data, at offset: Int, of total: Int, request: String, registration id: String, by caller: DeviceCaller
    ) async throws(ServiceError) -> Int
}

extension DeviceService where Self: DeviceReporting {
    /// Closes a registration about which the app says nothing (SRV-CI-021).
    public func unregister(_ id: String, by caller: DeviceCaller) async throws(ServiceError) {
        try await unregister(id, report: nil, by: caller)
    }
}
