import CordonBase
import CordonPolicy
import CordonService
import Foundation

/// The export reports, as rows of text (SRV-TG-35, 36).
enum StatusExport: String, Sendable, CaseIterable {
    /// Protection: 21 columns.
    case protection = "MAMAppProtectionStatus"
    /// Configuration: the same without three.
    case configuration = "MAMAppConfigurationStatus"

    /// The columns, in order.
    var columns: [String] {
        let all = [
            "User", "Email", "App", "AppVersion", "SdkVersion", "AppInstanceId", "DeviceName", "DeviceHealth",
            "DeviceType", "DeviceManufacturer", "DeviceModel", "AndroidPatchVersion", "AADDeviceID", "MDMDeviceID",
            "Platform", "PlatformVersion", "ManagementType", "AppProtectionStatus", "Policy", "LastSync",
            "ComplianceState",
        ]
        let protectionOnly: Set<String> = ["ManagementType", "AppProtectionStatus", "ComplianceState"]
        return self == .protection ? all : all.filter { !protectionOnly.contains($0) }
    }

    /// One line for each policy of the report's kind that was in force, at least one for each registration.
    func rows(_ statuses: [ProtectionStatus]) -> [[String: String]] {
        statuses.flatMap { status in
            let policies = policies(of: status)
            return (policies.isEmpty ? [nil] : policies.map(Optional.some)).map { policy in
                Dictionary(uniqueKeysWithValues: columns.map { ($0, Self.value($0, status, policy)) })
            }
        }
    }

    /// The policies of the report's kind that a registration has in force.
    func policies(of status: ProtectionStatus) -> [ManagedAppPolicy] {
        status.applied.filter { ($0.kind == .targetedManagedAppConfiguration) == (self == .configuration) }
    }

    private static func value(_ column: String, _ status: ProtectionStatus, _ policy: ManagedAppPolicy?) -> String {
        let same = [
            "User": "DisplayName", "Email": "UserEmail", "App": "ApplicationName", "AppVersion": "ApplicationVersion",
            "AppInstanceId": "ApplicationInstanceId", "AADDeviceID": "AzureADDeviceId",
            "ManagementType": "ManagementLevel", "Policy": "PolicyName", "LastSync": "LastCheckInDate",
        ]
        if column == "AppProtectionStatus" { return status.isProtected ? "Protected" : "Unprotected" }
        return ReportEntity.value(same[column] ?? column, of: status, policy: policy)
    }

    /// The rows as CSV.
    static func csv(_ rows: [[String: String]], columns: [String]) -> String {
        rows.map { row in CSV.line(columns.map { row[$0] ?? "" }) }.joined()
    }
}

/// A report as a file that is made a part at a time.
struct StatusFile: Sendable {
    let report: StatusExport
    let columns: [String]
    let isJSON: Bool
    private let written = Locked(false)

    init(report: StatusExport, columns: [String], isJSON: Bool) {
        self.report = report
        self.columns = columns
        self.isJSON = isJSON
    }

    /// What stands before the first row.
    var beginning: String { isJSON ? "{\"values\":[" : CSV.line(columns) }

    /// What stands after the last row.
    var end: String { isJSON ? "]}" : "" }

    /// More rows.
    func lines(_ statuses: [ProtectionStatus]) -> String {
        let rows = report.rows(statuses)
        guard isJSON else { return StatusExport.csv(rows, columns: columns) }
        let entries = rows.map { row in
            JSONValue.object(row.filter { columns.contains($0.key) }.mapValues(JSONValue.string)).text()
        }
        guard !entries.isEmpty else { return "" }
        let isFirst = written.withLock { isWritten in
            defer { isWritten = true }
            return !isWritten
        }
        return (isFirst ? "" : ",") + entries.joined(separator: ",")
    }
}
