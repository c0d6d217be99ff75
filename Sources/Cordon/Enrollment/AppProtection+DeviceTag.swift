internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

extension AppProtection {
    /// The tag that Cordon makes for an organisation on this device, where the app gives none: random, the same for all its
    /// accounts here, and kept with their registrations alone, so that it goes with the last one (SRV-CI-095).
    ///
    /// - Parameter known: The tag of a registration that goes on.
    func deviceTag(of account: ManagedAccount, known: String?) -> String? {
        guard configuration.device.tag.isEmpty else { return nil }
        let shared = records.values.first { $0.account.tenant == account.tenant && $0.deviceTag != nil }
        // By its tag the service ends a registration that it has not been told the end of yet.
        let owed = pending.unenrollments.first { $0.discovery.tenant == account.tenant && $0.deviceTag != nil }
        return known ?? shared?.deviceTag ?? owed?.deviceTag ?? UUID().uuidString.lowercased()
    }

    /// The device as the service is told of it.
    func device(tagged tag: String?) -> DeviceDescription {
        var device = configuration.device
        if let tag { device.tag = tag }
        // A registration of an older version of the app, whose tag the app gave, has none that is known here.
        if device.tag.isEmpty { device.tag = UUID().uuidString.lowercased() }
        return device
    }
}
