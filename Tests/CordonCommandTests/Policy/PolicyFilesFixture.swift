import CordonBase
import CordonPolicy
import CordonSignIn
import Foundation
import HTTPTypes

@testable import CordonCommand

/// A service of a few routes, as commands see it: documents, what a change would do, and changes at a version.
actor PretendService: HTTPTransport {
    struct Document {
        var version: Int
        var members: [String: JSONValue]
    }

    private(set) var documents: [String: Document] = [:]
    /// Paths that were written, with the reason that came along.
    private(set) var writes: [String] = []
    /// How many people every change is said to reach.
    var people: Int64 = 1
    private var listed: String?
    /// The names of groups, by their ids.
    private var groups: [String: String] = [:]
    /// What the next write of an id waits for.
    private var waiting: [String: String] = [:]
    /// What happens just before the next write.
    private var before: (@Sendable (PretendService) async -> Void)?
    private var made = 0
    /// What every write is answered with, and nothing is made.
    private var empty: (status: Int, body: JSONValue)?
    /// What is said of every change in place of its impact.
    private var said: JSONValue?
    /// After how many writes the connection breaks at each further one; nil for never.
    private var mostWrites: Int?

    func breakAfter(writes: Int?) { mostWrites = writes }

    func keep(_ id: String, _ members: [String: JSONValue]) {
        var all = members
        all["@odata.type"] = "#microsoft.graph.iosManagedAppProtection"
        documents[id] = Document(version: (documents[id]?.version ?? 0) + 1, members: all)
    }

    func wait(for change: String?, at id: String) { waiting[id] = change }

    /// Tells the changes of a list entry by entry, as the service does.
    func changeEntries(of member: String) { listed = member }

    /// Answers every write with success, as a proxy may, and makes nothing.
    func makeNothing(answering status: Int, _ body: JSONValue) { empty = (status, body) }

    /// Says this of every change in place of its impact; nil says that again.
    func say(_ impact: JSONValue?) { said = impact }

    func name(_ group: String, _ name: String) { groups[group] = name }

    func reach(_ people: Int64) { self.people = people }

    func onNextWrite(_ body: @escaping @Sendable (PretendService) async -> Void) { before = body }

    func send(
        _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer {
        let path = (request.path ?? "").split(separator: "/").map(String.init)
        let json = body.flatMap { try? JSONValue(parsing: $0) } ?? .null
        switch (request.method, path.last ?? "") {
        case (.get, "documents"): return Self.answer(200, .array(documents.sorted { $0.key < $1.key }.map(present)))
        case (.post, "impact"): return Self.answer(200, said ?? impact(json))
        case (.get, let id) where path.dropLast().last == "groups":
            guard let name = groups[id] else { return Self.answer(404, ["error": ["code": "NotFound"]]) }
            return Self.answer(200, ["id": .string(id), "displayName": .string(name)])
        default:
            if let mostWrites, writes.count >= mostWrites { throw TransportError(.unreachable, reason: "it was cut") }
            return await write(request, path.last ?? "", json)
        }
    }

    func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
        throw TransportError(.badRequest, reason: "not here")
    }

    private func write(_ request: HTTPRequest, _ id: String, _ json: JSONValue) async -> HTTPAnswer {
        if let before {
            self.before = nil
            await before(self)
        }
        if let empty { return Self.answer(empty.status, empty.body) }
        if let change = waiting[id], let name = HTTPField.Name("Cordon-Waiting-Change") {
            return Self.answer(409, ["error": ["code": "Conflict", "message": "a second person"]], [name: change])
        }
        let expected = request.headerFields[.ifMatch]?.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
        if let expected, expected != documents[id].map({ "v\($0.version)" }) {
            return Self.answer(412, ["error": ["code": "PreconditionFailed", "message": "another version"]])
        }
        writes.append("\(request.method.rawValue) \(id)")
        switch request.method {
        case .post:
            made += 1
            keep("new-\(made)", json.object ?? [:])
            return Self.answer(201, ["id": .string("new-\(made)")])
        case .delete: documents[id] = nil
        default:
            let members = (documents[id]?.members ?? [:]).merging(json.object ?? [:]) { $1 }
            keep(id, members.filter { $0.value != .null })
        }
        return Self.answer(204, .null)
    }

    private func impact(_ question: JSONValue) -> JSONValue {
        let known = question["policy"]?.string.flatMap { documents[$0]?.members } ?? [:]
        let after = (question["update"] ?? question["create"])?.object ?? [:]
        let changes = after.sorted { $0.key < $1.key }.filter { known[$0.key] != $0.value }.flatMap { name, value in
            guard name == listed, let entries = value.array else {
                return [JSONValue.object(["member": .string(name), "to": value])]
            }
            return entries.map { ["member": .string("\(name)[…]"), "to": $0] }
        }
        let reach: JSONValue = ["people": .integer(people), "registrations": .integer(people)]
        return [
            "changes": .array(changes), "effects": [], "wipes": [], "winners": [], "reach": reach, "losing": reach,
            "needsWipePermission": false, "needsApproval": false,
        ]
    }

    private func present(_ id: String, _ document: Document) -> JSONValue {
        [
            "kind": "policy", "id": .string(id), "version": .string("v\(document.version)"),
            "modified": "2026-01-01T00:00:00Z", "document": .object(document.members),
            "author": ["id": "oid-carol", "isProgram": false], "reason": "because",
        ]
    }

    private static func answer(_ status: Int, _ json: JSONValue, _ fields: HTTPFields = [:]) -> HTTPAnswer {
        HTTPAnswer(
            head: HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields),
            body: json == .null ? Data() : Data(json.text().utf8))
    }
}

/// A folder of policies and a service, for one test.
struct PolicyFilesFixture {
    let folder: URL
    let service = PretendService()
    /// A client of another service than the pretended one.
    var live: ServiceClient?

    var client: ServiceClient {
        live
            ?? ServiceClient(
                address: URL(filePath: "/"), transport: service, reason: "test", token: "t"
            ).at("http://127.0.0.1:1")
    }

    func pull(overwriting: Bool = false) async throws -> PolicyPullCommand.Report {
        var files = try PolicyFolder(folder.path)
        try files.claim(for: client.address)
        return try PolicyPullCommand.pull(try await client.documents(), into: &files, overwriting: overwriting)
    }

    @discardableResult
    func plan(
        takingFiles: Bool = false, allowingEmpty: Bool = false, _ variables: [String: String] = [:]
    ) async throws -> PolicyPlan {
        try await PolicyPlan.renew(at: folder.appending(path: PolicyPlan.name)) {
            var files = try PolicyFolder(folder.path)
            try files.claim(for: client.address)
            let planner = PolicyPlanner(
                folder: files, client: client, documents: try await client.documents(), variables: variables)
            return try await planner.plan(takingFiles: takingFiles, allowingEmpty: allowingEmpty)
        }
    }

    func apply(_ variables: [String: String] = [:]) async throws -> PolicyApplier.Report {
        var files = try PolicyFolder(folder.path)
        let place = folder.appending(path: PolicyPlan.name)
        return try await PolicyApplier(client: client, place: place, variables: variables).apply(to: &files)
    }

    /// The failure of something that has to be refused.
    func refused(_ body: () async throws -> Void) async -> CommandFailure? {
        do {
            try await body()
            return nil
        } catch {
            return error as? CommandFailure
        }
    }

    /// The path of something in the folder.
    func place(_ path: String) -> String { folder.appending(path: path).path }

    /// Gives a file another name.
    func move(_ path: String, to other: String) throws {
        let target = folder.appending(path: other)
        try FileManager.default.createDirectory(
            at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.moveItem(at: folder.appending(path: path), to: target)
    }

    func read(_ path: String) throws -> JSONValue {
        try JSONValue(parsing: Data(contentsOf: folder.appending(path: path)))
    }

    func write(_ path: String, _ json: JSONValue) throws {
        let file = folder.appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(json.text(pretty: true).utf8).write(to: file)
    }

    /// Changes members of a file.
    func edit(_ path: String, _ members: [String: JSONValue]) throws {
        try write(path, .object((try read(path).object ?? [:]).merging(members) { $1 }))
    }
}

extension ServiceClient {
    /// The same client for another address.
    fileprivate func at(_ address: String) -> ServiceClient {
        guard let url = URL(string: address) else { return self }
        return ServiceClient(address: url, transport: transport, reason: reason, token: token)
    }
}
