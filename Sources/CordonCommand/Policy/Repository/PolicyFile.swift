import CordonBase
import CordonPolicy
import CordonService
import Crypto
import Foundation

/// A policy, app configuration or filter as one file of a folder.
struct PolicyFile: Equatable {
    /// Where it is in the folder.
    let path: String
    let kind: EntityVersion.Kind
    /// The id on the service, nil for one that is to be made.
    var id: String?
    /// What it says, without the id.
    var members: [String: JSONValue]

    /// What only the service writes.
    static let owned: Set<String> = [
        "id", "version", "createdDateTime", "lastModifiedDateTime", "isAssigned", "deployedAppCount",
    ]
    /// The member of a secret value that names an environment variable.
    private static let environment = "fromEnvironment"
    /// The member of a secret value that names a file.
    private static let file = "fromFile"
    private static let longestSecret = 64 << 10

    /// What kind the file at a path is of.
    static func kind(at path: String) -> EntityVersion.Kind { path.hasPrefix("filters/") ? .filter : .policy }

    /// The folder that something belongs into.
    static func folder(_ kind: EntityVersion.Kind, _ type: String?) -> String {
        guard kind == .policy else { return "filters" }
        let isConfiguration = type.flatMap(PolicyKind.init(odataType:)) == .targetedManagedAppConfiguration
        return isConfiguration ? "configurations" : "policies"
    }

    /// A document of the service as a file keeps it.
    init(_ document: PresentDocument, at path: String) {
        self.path = path
        (kind, id) = (document.kind, document.id)
        members = Self.plain(document.document.object ?? [:])
    }

    /// Reads a file.
    ///
    /// - Throws: ``CommandFailure`` with status `badInput` for a file that is not a document of its folder.
    init(_ text: Data, at path: String) throws {
        self.path = path
        let json = try PolicyFiles.named(path) { () throws(PolicyError) -> JSONValue in try JSONValue(parsing: text) }
        guard let members = json.object else {
            throw CommandFailure(.badInput, "\(path): a policy or filter is a JSON object")
        }
        kind = Self.kind(at: path)
        id = members["id"]?.string
        self.members = Self.plain(members)
        try checkShape()
    }

    /// What two documents are compared by: without what the service alone writes, and lists of which the order says nothing in one
    /// order.
    private static func plain(_ members: [String: JSONValue]) -> [String: JSONValue] {
        var plain = members.filter { name, value in
            !owned.contains(name) && !(name.contains("@") && name != "@odata.type")
                && !(name == "description" && value == .null)
        }
        plain["apps"] = plain["apps"]?.array.map { apps in
            .array(apps.map { ["mobileAppIdentifier": $0["mobileAppIdentifier"] ?? .null] }.sorted(by: isBefore))
        }
        plain["assignments"] = plain["assignments"]?.array.map { entries in
            .array(entries.map { ["target": target($0["target"])] }.sorted(by: isBefore))
        }
        return plain
    }

    private static func target(_ target: JSONValue?) -> JSONValue {
        guard let target, case .object(var members) = target else { return .null }
        let type = members["deviceAndAppManagementAssignmentFilterType"]
        if type == nil || type == .null || type == "none" {
            members["deviceAndAppManagementAssignmentFilterId"] = nil
            members["deviceAndAppManagementAssignmentFilterType"] = nil
        }
        return .object(members)
    }

    private static func isBefore(_ left: JSONValue, _ right: JSONValue) -> Bool { left.text() < right.text() }

    /// The kind of a policy.
    var policyKind: PolicyKind? { members["@odata.type"]?.string.flatMap(PolicyKind.init(odataType:)) }

    /// The name to show.
    var name: String { members["displayName"]?.string ?? path }

    /// The bytes of the file.
    var bytes: Data {
        var members = members
        members["id"] = id.map(JSONValue.string)
        return Data((JSONValue.object(members).text(pretty: true) + "\n").utf8)
    }

    /// The SHA-256 of what it says, lower-case hex.
    var digest: String { Self.digest(Data(JSONValue.object(members).text().utf8)) }

    static func digest(_ bytes: Data) -> String {
        SHA256.hash(data: bytes).hex
    }
}

extension PolicyFile {
    private static let ofFilters: Set<String> = [
        "displayName", "description", "platform", "rule", "roleScopeTags", "assignmentFilterManagementType",
    ]
    private static let ofConfigurations: Set<String> = [
        "displayName", "description", "roleScopeTagIds", "customSettings", "apps", "assignments", "appGroupType",
        "targetedAppManagementLevels", "@odata.type",
    ]

    private func checkShape() throws {
        guard kind == .policy else {
            guard members["rule"]?.string != nil else {
                throw CommandFailure(
                    .badInput, "\(path): a filter has a rule",
                    hint: policyKind.map { _ in
                        "A policy belongs into policies, an app configuration into configurations."
                    })
            }
            return
        }
        guard policyKind != nil else {
            throw CommandFailure(
                .badInput, "\(path): \"@odata.type\" is not a kind of policy",
                hint: members["rule"] == nil
                    ? "Such as #microsoft.graph.iosManagedAppProtection." : "A filter belongs into filters.")
        }
    }

    /// Refuses members that are not known, unless the service keeps them already: kept without a word, a misspelt one would have no
    /// effect.
    ///
    /// - Throws: ``CommandFailure`` with status `badInput`.
    func checkSpelling(besides present: PolicyFile?) throws {
        let own = ["appGroupType", "apps", "assignments", "@odata.type", "targetedAppManagementLevels"]
        for name in members.keys.sorted() where present?.members[name] == nil {
            let isKnown: Bool
            var meant: String?
            switch (kind, policyKind) {
            case (.filter, _): isKnown = Self.ofFilters.contains(name)
            case (_, .targetedManagedAppConfiguration): isKnown = Self.ofConfigurations.contains(name)
            case (_, .androidManagedAppProtection): isKnown = AppProtectionPolicy.memberMeant(by: name) == nil
            default:
                meant = AppProtectionPolicy.memberMeant(by: name)
                isKnown = meant == nil && (own.contains(name) || AppProtectionPolicy.isMember(name))
            }
            guard isKnown else {
                throw CommandFailure(
                    .badInput, "\(path): \(name) is not known here", hint: meant.map { "Did you mean \($0)?" })
            }
        }
    }
}

/// Secret values: digests of what the service has, or names of where to take them from.
extension PolicyFile {
    private var pairs: [JSONValue] { members["customSettings"]?.array ?? [] }

    /// Whether a value is to be taken from the environment or from another file.
    var hasReferences: Bool { pairs.contains { Self.isReference($0["value"]) } }

    private static func isReference(_ value: JSONValue?) -> Bool {
        value?[environment]?.string != nil || value?[file]?.string != nil
    }

    /// The digests of secret values, by their names.
    var secrets: [String: String] {
        pairs.reduce(into: [:]) { known, pair in
            guard let name = pair["name"]?.string, let value = pair["value"]?.string, SecretDigest.isOne(value) else {
                return
            }
            known[name] = value
        }
    }

    /// The document with what another one takes its secret values from, as far as these values are the same as before.
    ///
    /// - Parameter before: The digests when that other document was current.
    func keepingReferences(of other: PolicyFile, unless before: [String: String]) -> PolicyFile {
        let references = other.pairs.reduce(into: [String: JSONValue]()) { known, pair in
            guard let name = pair["name"]?.string, Self.isReference(pair["value"]) else { return }
            known[name] = pair["value"]
        }
        let now = secrets
        var file = self
        file.members["customSettings"] = members["customSettings"]?.array.map { pairs in
            .array(
                pairs.map { pair in
                    guard let name = pair["name"]?.string, let reference = references[name], now[name] == before[name],
                        case .object(var parts) = pair
                    else { return pair }
                    parts["value"] = reference
                    return .object(parts)
                })
        }
        return file
    }

    /// Changes as they may be shown: without the values that are taken from elsewhere. The service has such a one in clear where it was sent
    /// before it was marked secret.
    func hidingReferences(in changes: JSONValue?) -> JSONValue? {
        guard hasReferences, let list = changes?.array else { return changes }
        let names = Set(pairs.filter { Self.isReference($0["value"]) }.compactMap { $0["name"]?.string })
        return .array(
            list.map { change in
                guard case .object(var parts) = change, let pair = parts["from"] ?? parts["to"],
                    parts["member"]?.string?.hasPrefix("customSettings") == true,
                    let name = pair["name"]?.string, names.contains(name)
                else { return change }
                for side in ["from", "to"] {
                    guard case .object(var pair)? = parts[side], let value = pair["value"]?.string,
                        !SecretDigest.isOne(value)
                    else { continue }
                    pair["value"] = "(not shown)"
                    parts[side] = .object(pair)
                }
                return .object(parts)
            })
    }

    /// What to send: every reference as the value that it names. What is kept elsewhere is secret, whatever its name is, and marked as that:
    /// the service shows values that are not in plans, in its log and to the next pull.
    ///
    /// - Parameter folder: Where file names begin; none leads out of it.
    /// - Throws: ``CommandFailure`` with status `badInput` for a value that is not there.
    func resolved(in folder: URL, _ variables: [String: String]) throws -> [String: JSONValue] {
        guard hasReferences else { return members }
        var members = members
        members["customSettings"] = .array(
            try pairs.map { pair in
                guard Self.isReference(pair["value"]), case .object(var parts) = pair else { return pair }
                parts["value"] = .string(try secret(pair["value"], in: folder, variables))
                if !SecretValues.isSecret(pair) { parts["isSecret"] = true }
                return .object(parts)
            })
        return members
    }

    private func secret(_ value: JSONValue?, in folder: URL, _ variables: [String: String]) throws -> String {
        if let name = value?[Self.environment]?.string {
            // A proposed file must not reveal the job's own credentials.
            guard !name.hasPrefix("CORDON_") else {
                throw CommandFailure(
                    .badInput, "\(path): \(name) is a setting of cordon and no value of a configuration",
                    hint: "Give the value in a variable whose name does not begin with CORDON_.")
            }
            guard let text = variables[name], !text.isEmpty else {
                throw CommandFailure(.badInput, "\(path): the environment has no \(name)")
            }
            return text
        }
        let name = value?[Self.file]?.string ?? ""
        let url = folder.appending(path: name)
        let isInside = url.resolvingSymlinksInPath().path.hasPrefix(folder.resolvingSymlinksInPath().path + "/")
        guard isInside, let bytes = try? DurableFile.read(url, limit: Self.longestSecret) else {
            throw CommandFailure(.badInput, "\(path): \(name) cannot be read", hint: "The file is below the folder.")
        }
        guard let text = SecretText.text(of: bytes) else {
            throw CommandFailure(
                .badInput, "\(path): \(name) is not UTF-8",
                hint: "A value is text; encode bytes as Base64, for example.")
        }
        return text
    }
}

/// How digests of secret values begin.
enum SecretDigest {
    static func isOne(_ value: String) -> Bool { value.hasPrefix("cordon-secret:") }
}
