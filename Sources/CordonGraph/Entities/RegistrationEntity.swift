import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService

/// A registration as Graph shows it (SRV-RS-118…128).
enum RegistrationEntity {
    /// The model without its numbers: `iPhone`, `iPad`.
    static func deviceType(_ registration: Registration) -> String {
        String(registration.device.model.prefix { !$0.isNumber && $0 != "," })
    }

    static func json(_ registration: Registration, version: GraphPath.Version) -> JSONValue {
        var entity: [String: JSONValue] = [
            "@odata.type": "#microsoft.graph.iosManagedAppRegistration",
            "id": .string(registration.id),
            "version": .string(String(registration.lastEnvelope?.sequence ?? 0)),
            "createdDateTime": GraphTime.value(registration.created),
            "lastSyncDateTime": GraphTime.value(registration.lastSync),
            "applicationVersion": .string(registration.application.versionAndBuild),
            "managementSdkVersion": .string(registration.application.sdkVersion),
            "platformVersion": .string(registration.device.osVersion),
            "deviceType": .string(deviceType(registration)),
            "deviceTag": .string(registration.device.tag),
            "deviceName": registration.device.name.map(JSONValue.string) ?? .null,
            "flaggedReasons": .array(
                registration.health.flagged.isEmpty
                    ? ["none"] : registration.health.flagged.map { .string($0.rawValue) }),
            "userId": .string(registration.account.id.rawValue),
            "appIdentifier": [
                "@odata.type": "#microsoft.graph.iosMobileAppIdentifier",
                "bundleId": .string(registration.application.bundleID),
            ],
        ]
        if version == .beta {
            entity["deviceManufacturer"] = "Apple"
            entity["deviceModel"] = .string(registration.device.model)
            entity["azureADDeviceId"] = ""
            entity["managedDeviceId"] = ""
        }
        return .object(entity)
    }
}
