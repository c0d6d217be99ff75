import ArgumentParser
import CordonPolicy
import CordonService
import Foundation
import HTTPTypes

/// `cordon policy publish`: one file as a new policy for apps and groups.
struct PolicyPublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish", abstract: "Create a policy from a file, for apps and groups.",
        discussion: """
            Prints first what it will do, and for whom. Refuses if there is a policy of this name already: cordon policy pull, plan \
            and apply change existing ones.

            Example:
              cordon policy baseline level2 --name Pilot > pilot.json
              cordon policy publish pilot.json --app example.cordon.fieldnotes --group "Field workers"
            """)

    @OptionGroup var options: ServiceOptions

    @Argument(help: "The policy or app configuration; - is standard input.")
    var file: String

    @Option(help: "The bundle id of an app that it covers; may repeat.")
    var app: [String]

    @Option(help: "The name or id of a group that it reaches; may repeat. Without one, it reaches nobody.")
    var group: [String] = []

    @Flag(help: "Let it reach every person.")
    var everybody = false

    @Option(help: "Why, for versions and the audit log.")
    var reason: String?

    /// What was made.
    struct Report: Encodable {
        let id: String
        let version: String?
        let impact: Impact
    }

    func run() async throws {
        var members = try Self.members(of: try PolicyFiles.json(file), in: file)
        members["apps"] = .array(
            app.map {
                [
                    "mobileAppIdentifier": [
                        "@odata.type": "#microsoft.graph.iosMobileAppIdentifier", "bundleId": .string($0),
                    ]
                ]
            })
        let report = try await options.withClient(reason: reason) { client in
            var targets: [JSONValue] = []
            for name in group { targets.append(Self.target("group", try await Self.group(name, client))) }
            if everybody { targets.append(Self.target("allLicensedUsers", nil)) }
            members["assignments"] = .array(targets)
            return try await publish(members, client)
        }
        if options.json {
            try Terminal.json(report)
        } else {
            Terminal.data(report.id)
        }
    }

    /// The members of a document that may be published.
    private static func members(of document: JSONValue, in path: String) throws -> [String: JSONValue] {
        guard case .object(var members) = document else {
            throw CommandFailure(.badInput, "\(path): a policy is one JSON object")
        }
        members = members.filter { !PolicyFile.owned.contains($0.key) }
        if members["@odata.type"] == nil {
            try PolicyFiles.checkShape(of: document, in: path)
            members["@odata.type"] = .string(PolicyKind.iosManagedAppProtection.odataType)
        }
        return members
    }

    /// Says what a new policy would do, and makes it.
    ///
    /// - Throws: ``CommandFailure``, also where the service does not say that it made it.
    func publish(_ members: [String: JSONValue], _ client: ServiceClient) async throws -> Report {
        let parsed = try PolicyFile(Data(JSONValue.object(members).text().utf8), at: file)
        try parsed.checkSpelling(besides: nil)
        let collection = PolicyPlan.Step.collection(of: parsed)
        let documents = try await client.documents()
        let twin = documents.first { document in
            document.kind == .policy && document.document["displayName"] == members["displayName"]
                && document.document["@odata.type"] == members["@odata.type"]
        }
        if let twin {
            throw CommandFailure(
                .refused, "there is a policy “\(parsed.name)” already: \(twin.id)",
                hint: "Change it with cordon policy pull, plan and apply, or give the file another displayName.")
        }
        let asked = try await client.send(.post, "admin/v1/impact", .object(["create": .object(members)]))
        guard asked.status == 200 else { throw ServiceClient.failure(asked, at: file) }
        // Nothing is made before it was said whom it reaches.
        guard let impact = PolicyPlan.Step.effect(asked.body) else { throw ServiceClient.unclear(asked, at: file) }
        if !options.json {
            PolicyPlanReport.print(impact) { id in
                // The service gives what it only tries an id that nothing has later.
                let known = documents.first { $0.id == id }?.document["displayName"]?.string
                return "“\(known ?? parsed.name)”"
            }
        }
        let made = try await client.send(
            .post, "beta/\(collection)", .object(members), impact: asked.body["token"]?.string)
        guard (200...299).contains(made.status) else {
            if let id = made.waitingChange {
                throw CommandFailure(
                    .refused, "\(file): waits for a second person as change \(id)",
                    hint: "Once another administrator has released it, the same command passes.")
            }
            throw ServiceClient.failure(made, at: file)
        }
        guard let id = made.madeID else { throw ServiceClient.unclear(made, at: file) }
        return Report(id: id, version: made.version, impact: impact)
    }

    private static func target(_ type: String, _ group: String?) -> JSONValue {
        var target: [String: JSONValue] = ["@odata.type": .string("#microsoft.graph.\(type)AssignmentTarget")]
        target["groupId"] = group.map(JSONValue.string)
        return ["target": .object(target)]
    }

    /// The id of a group by its name, or by its id.
    private static func group(_ name: String, _ client: ServiceClient) async throws -> String {
        // Scalar by scalar, as filters are read: a quote that a mark joins is a quote.
        let quoted = name.unicodeScalars.map { $0 == "'" ? "''" : String($0) }.joined()
        let found = try await client.json(
            .get, "v1.0/groups",
            query: [URLQueryItem(name: "$filter", value: "displayName eq '\(quoted)' or id eq '\(quoted)'")])
        let ids = (found["value"]?.array ?? []).compactMap { $0["id"]?.string }
        guard let id = ids.first else {
            throw CommandFailure(.badInput, "there is no group “\(name)”", hint: "Names are those of the directory.")
        }
        guard ids.count == 1 else {
            throw CommandFailure(
                .badInput, "several groups are called “\(name)”: \(ids.joined(separator: ", "))", hint: "Give its id.")
        }
        return id
    }
}
