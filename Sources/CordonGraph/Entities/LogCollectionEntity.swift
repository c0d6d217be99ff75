import CordonPolicy
import CordonService
import Foundation

/// Logs that an app was asked for, as Graph shows them (SRV-RS-132).
struct LogCollectionEntity: Sendable {
    private let names: [String: String]
    private let now: Date

    /// - Parameter users: Those who asked, for their sign-in names.
    init(users: [DirectoryUser], at now: Date) {
        names = Dictionary(
            users.map { ($0.id.lowercased(), $0.userPrincipalName) }, uniquingKeysWith: { first, _ in first })
        self.now = now
    }

    func json(_ logs: LogCollection) -> JSONValue {
        let isHere = logs.isComplete
        let state =
            isHere ? "completed" : logs.notAfter <= now ? "timedOut" : logs.received > 0 ? "inProgress" : "pending"
        return [
            "@odata.type": "#microsoft.graph.managedAppLogCollectionRequest", "id": .string(logs.id),
            "managedAppRegistrationId": .string(logs.registrationID),
            "requestedByUserPrincipalName": .string(names[logs.requestedBy.lowercased()] ?? logs.requestedBy),
            "requestedDateTime": GraphTime.value(logs.requested),
            "completedDateTime": logs.completed.map(GraphTime.value) ?? .null,
            // An app sends nothing before its person agreed, and does not say that they did not.
            "userLogUploadConsent": .string(logs.received > 0 ? "accepted" : "unknown"),
            "uploadedLogs": [
                [
                    "@odata.type": "#microsoft.graph.managedAppLogUpload", "managedAppComponentDescription": "Cordon",
                    "referenceId": .string(logs.id), "status": .string(state),
                ]
            ],
            "version": .string(String(logs.received)),
        ]
    }
}
