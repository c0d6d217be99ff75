import CordonPolicy
import CordonService

/// A wipe as Graph shows it (SRV-RS-131).
enum OperationEntity {
    static func json(_ operation: WipeOperation) -> JSONValue {
        var members: [String: JSONValue] = [
            "@odata.type": "#microsoft.graph.managedAppOperation", "id": .string(operation.id),
            "displayName": .string(operation.displayName), "state": .string(operation.state.rawValue),
            "lastModifiedDateTime": GraphTime.value(operation.modified), "version": .string(operation.version),
        ]
        // Beside Graph's members, where there is something to say (SRV-TG-29).
        members["failureReason"] = operation.failure.map { .string($0) }
        return .object(members)
    }
}
