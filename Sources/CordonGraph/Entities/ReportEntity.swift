import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import Foundation

/// Reports as Graph shows them (§4.5).
enum ReportEntity {
    /// A policy's deployment (SRV-RS-135).
    static func json(_ summary: DeploymentSummary, of policy: ManagedAppPolicy, at now: Date) -> JSONValue {
        let apps = summary.userCountPerApp.map { app, count -> JSONValue in
            [
                "mobileAppIdentifier": GraphApps.json(app, version: "")["mobileAppIdentifier"] ?? .null,
                "configurationAppliedUserCount": .integer(Int64(count)),
            ]
        }
        return [
            "@odata.type": "#microsoft.graph.managedAppPolicyDeploymentSummary", "id": .string(policy.id),
            "displayName": policy.document["displayName"] ?? "", "version": .string(policy.version),
            "lastRefreshTime": GraphTime.value(now),
            "configurationDeployedUserCount": .integer(Int64(summary.userCount)),
            "configurationDeploymentSummaryPerApp": .array(apps),
        ]
    }

    /// A named status with its open member (SRV-RS-133).
    static func raw(_ name: String, _ displayName: String, _ content: [String: JSONValue]) -> JSONValue {
        var content = content
        content["@odata.type"] = "#microsoft.graph.json"
        return [
            "@odata.type": "#microsoft.graph.managedAppStatusRaw", "id": .string(name),
            "displayName": .string(displayName), "version": "1", "content": .object(content),
        ]
    }

    /// The columns of `appregistrationsummary` (SRV-OP-070).
    static let columns = [
        "AccountId", "UserId", "DisplayName", "UserEmail", "IntuneLicensed", "ApplicationId", "ApplicationVersion",
        "SdkVersion", "ApplicationName", "ApplicationInstanceId", "CreatedDate", "LastCheckInDate", "Platform",
        "PlatformVersion", "DeviceId", "DeviceType", "DeviceName", "DeviceHealth", "DeviceModel",
        "DeviceManufacturer", "AndroidPatchVersion", "AzureADDeviceId", "MDMDeviceID", "ManagementLevel",
        "PolicySource", "PolicyId", "PolicyName", "PolicyDescription", "ComplianceState",
    ]

    /// The value of a column; empty where this service has nothing to say.
    static func value(_ column: String, of row: ProtectionStatus, policy: ManagedAppPolicy?) -> String {
        let registration = row.registration
        return switch column {
        case "AccountId": registration.account.tenant.rawValue
        case "UserId": registration.account.id.rawValue
        case "DisplayName": row.user?.displayName ?? ""
        case "UserEmail": row.user?.mail ?? row.user?.userPrincipalName ?? ""
        case "IntuneLicensed": String(row.user?.isLicensed ?? false)
        case "ApplicationId", "ApplicationName": registration.application.bundleID
        case "ApplicationVersion": registration.application.versionAndBuild
        case "SdkVersion": registration.application.sdkVersion
        case "ApplicationInstanceId": registration.id
        case "CreatedDate": GraphTime.text(registration.created)
        case "LastCheckInDate": GraphTime.text(registration.lastSync)
        case "Platform": "iOS"
        case "PlatformVersion": registration.device.osVersion
        case "DeviceId": registration.device.tag
        case "DeviceType": RegistrationEntity.deviceType(registration)
        case "DeviceName": registration.device.name ?? ""
        case "DeviceHealth": row.flags.isEmpty ? "none" : row.flags.joined(separator: ",")
        case "DeviceModel": registration.device.model
        case "DeviceManufacturer": "Apple"
        case "ManagementLevel": registration.application.management == .mdm ? "MDM" : "Unmanaged"
        case "PolicySource": policy.map { $0.kind.isAssignable ? "Assigned" : "Default" } ?? ""
        case "PolicyId": policy?.id ?? ""
        case "PolicyName": policy?.document["displayName"]?.string ?? ""
        case "PolicyDescription": policy?.document["description"]?.string ?? ""
        case "ComplianceState": row.flags.isEmpty ? "compliant" : "noncompliant"
        default: ""
        }
    }
}
