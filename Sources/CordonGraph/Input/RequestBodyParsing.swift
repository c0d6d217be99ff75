internal import CordonPolicy
internal import CordonProtocol
internal import CordonService
internal import CordonServiceHTTP
package import Foundation

/// Entry point for fuzzing: parses an untrusted request body exactly as the service does (R4).
package enum RequestBodyParsing {
    /// What was read from a body, and what ought not to have happened on the way.
    package struct Outcome: Sendable, Equatable {
        /// The messages of apps that the body can be read as.
        package var messages: Set<String> = []
        /// The documents of administrators that it can be read as.
        package var documents: Set<String> = []
        /// What went wrong; nil for every input of a service without faults.
        package var fault: String?
    }

    /// Reads a body as everything that a route takes.
    ///
    /// A fault is something that was read and has no form that reads back the same.
    package static func read(_ bytes: Data) -> Outcome {
        var outcome = Outcome()
        guard let value = try? JSONValue(parsing: bytes) else { return outcome }
        message(RegistrationRequest.self, value, &outcome)
        message(CheckInRequest.self, value, &outcome)
        message(Acknowledgement.self, value, &outcome)
        message(UnenrollmentReport.self, value, &outcome)
        message(RemediationRequest.self, value, &outcome)
        message(TelemetryBatch.self, value, &outcome)
        message(ServiceSettings.self, value, &outcome)
        for kind in PolicyKind.allCases { policy(value, kind, &outcome) }
        targets(value, &outcome)
        people(value, &outcome)
        return outcome
    }

    private static func message<Message: Codable & Equatable>(
        _ type: Message.Type, _ value: JSONValue, _ outcome: inout Outcome
    ) {
        guard let message = try? MessageCoding.decode(type, from: value) else { return }
        outcome.messages.insert("\(type)")
        let written = (try? MessageCoding.encode(message)).flatMap { try? JSONValue(parsing: $0) }
        let again = written.flatMap { try? MessageCoding.decode(type, from: $0) }
        // Times are written in whole seconds, so that only the second writing must not change anything more.
        let last = again.flatMap { try? MessageCoding.encode($0) }.flatMap { try? JSONValue(parsing: $0) }
        if written == nil || last != written { outcome.fault = "\(type): what was read does not read back the same" }
    }

    private static func policy(_ value: JSONValue, _ kind: PolicyKind, _ outcome: inout Outcome) {
        guard let document = try? PolicyDocument(value), let kept = try? PolicyDocument.checked(document.members, kind)
        else { return }
        outcome.documents.insert(kind.rawValue)
        let again = (try? PolicyDocument(kept)).flatMap { try? PolicyDocument.checked($0.members, kind) }
        if again != kept { outcome.fault = "\(kind.rawValue): what was kept is not kept the same again" }
    }

    private static func targets(_ value: JSONValue, _ outcome: inout Outcome) {
        let body = value.object ?? [:]
        if let assignments = try? PolicyInput.assignments(body["assignments"]) {
            outcome.documents.insert("assignments")
            let written = JSONValue.array(assignments.map(GraphAssignments.json))
            if (try? GraphAssignments.assignments(in: written)) != assignments {
                outcome.fault = "assignments: what was read does not read back the same"
            }
        }
        if let apps = try? PolicyInput.apps(body).apps, !apps.isEmpty {
            outcome.documents.insert("apps")
            let written = JSONValue.array(apps.map { GraphApps.json($0, version: "1") })
            if (try? GraphApps.apps(in: written)) != apps {
                outcome.fault = "apps: what was read does not read back the same"
            }
        }
        if let rule = value["rule"]?.string {
            let filter = AssignmentFilter(
                id: "id", displayName: "name", rule: rule, created: .distantPast, modified: .distantPast)
            if (try? filter.check()) != nil { outcome.documents.insert("filter") }
        }
    }

    private static func people(_ value: JSONValue, _ outcome: inout Outcome) {
        if let user = try? SCIMUser.user(value, id: "id", known: nil) {
            outcome.documents.insert("user")
            let again = try? SCIMUser.user(SCIMUser.json(user, base: ""), id: "id", known: nil)
            if again != user { outcome.fault = "user: what was read does not read back the same" }
        }
        if let group = try? SCIMGroup.group(value, id: "id", known: nil, groups: []) {
            outcome.documents.insert("group")
            let again = try? SCIMGroup.group(SCIMGroup.json(group, base: ""), id: "id", known: nil, groups: [])
            if again != group { outcome.fault = "group: what was read does not read back the same" }
        }
        if let patch = try? SCIMPatch(value), (try? patch.applied(to: ["userName": "a", "members": []])) != nil {
            outcome.documents.insert("patch")
        }
    }
}
