import CordonPolicy
import CordonService
import Foundation

/// What applying a folder of files would do to a service, bound to the files and to the versions that it was worked out from.
///
/// It holds no secret value: what would change names these by digests.
struct PolicyPlan: Codable, Equatable {
    /// What is done with one file.
    enum Action: String, Codable {
        case create, update, remove
    }

    /// One change on the service.
    struct Step: Codable, Equatable {
        var file: String
        var action: Action
        var kind: EntityVersion.Kind
        /// The collection of the service's Graph routes.
        var collection: String
        var name: String
        /// The id, nil for something new until it is made.
        var id: String?
        /// The version that the change is made to, nil for something new.
        var version: String?
        /// The SHA-256 of the file, nil where it is removed.
        var digest: String?
        /// What the service said that the change would do, without its token; null where nothing can be reached by it.
        var impact: JSONValue
        /// Whether it was made.
        var isDone: Bool?

        /// What the service said, where it can be read.
        var effect: Impact? { Self.effect(impact) }

        static func effect(_ json: JSONValue) -> Impact? {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            return try? decoder.decode(Impact.self, from: Data(json.text().utf8))
        }
    }

    /// Something that changed on the service since the files were pulled.
    struct Drift: Codable, Equatable {
        var file: String
        var name: String
        /// Members that differ from the file, by name; empty where the whole is gone.
        var members: [String]
        /// Whether it is not there any more.
        var isGone: Bool
        /// Who wrote it last, and when and why.
        var author: String?
        var modified: Date?
        var reason: String?
    }

    /// What is on the service and in no file.
    struct Other: Codable, Equatable {
        var kind: EntityVersion.Kind
        var id: String
        var name: String
    }

    static let name = "cordon.plan.json"
    static let format = 1

    /// The version of this form.
    var format = Self.format
    var service: String
    var made: Date
    var steps: [Step]
    var drift: [Drift]
    var others: [Other]
    /// What the ids in assignments stand for: the names of groups, and of filters the file. An id without is of nothing that there is.
    var names: [String: String]?
    /// Files that were given other names, with the names before; nothing is done for that.
    var renamed: [String: String]?

    /// Whether nothing is to do.
    var isEmpty: Bool { steps.isEmpty && drift.isEmpty }
}

extension PolicyPlan.Step {
    /// Where the change is sent.
    var path: String { "beta/\(collection)" + (id.map { "/\($0)" } ?? "") }

    /// The collection of a document.
    static func collection(of file: PolicyFile) -> String {
        guard file.kind == .policy else { return "deviceManagement/assignmentFilters" }
        return "deviceAppManagement/\((file.policyKind ?? .iosManagedAppProtection).rawValue)s"
    }

    /// Whether another answer about the same change says the same: what changes and what is wiped, for no more people than a
    /// twentieth more.
    func isCovered(_ now: JSONValue) -> Bool {
        guard impact != .null else { return now == .null }
        func allowed(_ member: String, _ part: String) -> Bool {
            guard case .integer(let then) = impact[member]?[part], case .integer(let now) = now[member]?[part] else {
                return false
            }
            // A sum that wraps allows nothing more; one of negative numbers would allow all.
            return now <= then || then > 0 && now <= then &+ then / 20
        }
        return Self.plain(impact["changes"]) == Self.plain(now["changes"]) && impact["wipes"] == now["wipes"]
            && allowed("losing", "people") && allowed("losing", "registrations")
    }

    /// Changes without what the service draws for every answer afresh: an assignment that is not made yet has another id each time.
    private static func plain(_ changes: JSONValue?) -> JSONValue? {
        guard let list = changes?.array else { return changes }
        return .array(
            list.map { change in
                guard change["member"]?.string?.hasPrefix("assignments") == true, case .object(var parts) = change
                else {
                    return change
                }
                for side in ["from", "to"] {
                    guard case .object(var entry)? = parts[side] else { continue }
                    (entry["id"], entry["source"], entry["sourceId"]) = (nil, nil, nil)
                    parts[side] = .object(entry)
                }
                return .object(parts)
            })
    }
}
