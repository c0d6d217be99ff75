public import CordonIdentity

/// Devices that many people share; every call throws ``ServiceError``.
public protocol SharedDeviceAdministration: Sendable {
    /// Registers a device by what its key signed; the same key again finds its device.
    ///
    /// - Parameter statement: A signed `DeviceRegistrationStatement`.
    /// - Throws: ``ServiceError``: `invalid` when it is not good or of another organisation, `conflict` when the id belongs
    ///   to another key.
    func registerDevice(_ statement: String, name: String?, as administrator: Administrator)
        async throws(ServiceError) -> SharedDevice

    /// The devices, ordered by id, with who is on each.
    func sharedDevices(as administrator: Administrator) async throws(ServiceError) -> [SharedDevice]

    /// Releases a device: its statements no longer count, and it may be registered anew.
    func releaseDevice(_ id: String, as administrator: Administrator) async throws(ServiceError)

    /// Whether whoever a device says is on it may stay; changes and locks nothing, since anybody may send a statement.
    ///
    /// - Parameter statement: A `DeviceSessionStatement`, signed with the device's key: that is its proof.
    /// - Throws: ``ServiceError``: `notFound` for a device that is not registered, `wrongKey` when its key did not sign,
    ///   `invalid` when it names too many apps.
    func verdict(on statement: String, ofDevice id: String, tenant: TenantID)
        async throws(ServiceError) -> SharedDeviceVerdict

    /// Takes what a device says about who is on it; an older statement than the newest changes nothing.
    ///
    /// - Throws: ``ServiceError`` as ``verdict(on:ofDevice:tenant:)``.
    func noteSession(_ statement: String, ofDevice id: String, tenant: TenantID) async throws(ServiceError)
}
