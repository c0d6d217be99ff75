import CordonPolicy
import CordonService
import Foundation
import HTTPTypes

/// Compares files with a service and asks it what each change would do.
struct PolicyPlanner {
    let folder: PolicyFolder
    let client: ServiceClient
    let documents: [PresentDocument]
    /// What references of secret values may name.
    let variables: [String: String]

    /// What the service has of something.
    func present(_ kind: EntityVersion.Kind, _ id: String) -> PresentDocument? {
        documents.first { $0.kind == kind && $0.id.lowercased() == id.lowercased() }
    }

    /// Works out what is to do.
    ///
    /// - Parameters:
    ///   - takingFiles: Whether a file counts also where the service's word is newer.
    ///   - allowingEmpty: Whether everything may be removed that a folder had files of.
    /// - Throws: ``CommandFailure``: `badInput` for a file that cannot be used, `refused` for what is hardly meant.
    func plan(takingFiles: Bool, allowingEmpty: Bool = false) async throws -> PolicyPlan {
        if !allowingEmpty { try checkPlaces() }
        var plan = PolicyPlan(
            service: PolicyFolder.name(of: client.address),
            made: Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down)), steps: [], drift: [],
            others: others, renamed: folder.renamed.isEmpty ? nil : folder.renamed)
        for path in folder.files.keys.sorted() {
            guard let file = folder.files[path] else { continue }
            if let drift = drift(of: file), !takingFiles || drift.isGone {
                plan.drift.append(drift)
            } else if let step = try await step(file) {
                plan.steps.append(step)
            }
        }
        for (path, entry) in (folder.lock?.entries ?? [:]).sorted(by: { $0.key < $1.key })
        where folder.files[path] == nil {
            guard let document = present(PolicyFile.kind(at: path), entry.id) else { continue }
            let said = PolicyFile(document, at: path)
            if said.digest != entry.document, !takingFiles {
                plan.drift.append(Self.drift(said, document, members: []))
            } else {
                plan.steps.append(try await removal(said, document))
            }
        }
        // A filter comes before the policies that name it, and goes after them.
        plan.steps.sort { (Self.order($0), $0.file) < (Self.order($1), $1.file) }
        plan.names = try await names(in: plan.steps)
        return plan
    }

    /// Refuses a plan that removes everything of a kind: files that are missing are more likely a mistake than a decision.
    private func checkPlaces() throws {
        for place in PolicyFolder.places where !folder.files.keys.contains(where: { $0.hasPrefix(place + "/") }) {
            let gone = (folder.lock?.entries ?? [:]).filter { path, entry in
                path.hasPrefix(place + "/") && present(PolicyFile.kind(at: path), entry.id) != nil
            }
            guard gone.isEmpty else {
                throw CommandFailure(
                    .refused, "no files left in \(place); this would remove \(gone.count) from the service",
                    hint: "Bring the files back, or plan with --allow-empty where that is meant.")
            }
        }
    }

    /// The most groups that a plan asks the service for the names of; people read no more.
    private static let mostNames = 200

    /// What the ids stand for that assignments name which would change.
    private func names(in steps: [PolicyPlan.Step]) async throws -> [String: String] {
        let changes = steps.flatMap { $0.impact["changes"]?.array ?? [] }
        let targets = changes.flatMap { [$0["from"], $0["to"]] }.compactMap { $0?["target"] }
        var names: [String: String] = [:]
        for case let id? in targets.map({ $0["deviceAndAppManagementAssignmentFilterId"]?.string }) {
            let file = folder.files.values.first { $0.kind == .filter && $0.id?.lowercased() == id.lowercased() }
            names[id] = file?.path ?? present(.filter, id)?.document["displayName"]?.string
        }
        for id in Set(targets.compactMap { $0["groupId"]?.string }).sorted().prefix(Self.mostNames) {
            let answer = try await client.send(.get, "v1.0/groups/\(id)")
            // A group that does not exist, or that the caller may not see, keeps its id.
            guard answer.status == 200 else { continue }
            names[id] = answer.body["displayName"]?.string
        }
        return names
    }

    private static func order(_ step: PolicyPlan.Step) -> Int {
        switch (step.kind, step.action) {
        case (.filter, .create), (.filter, .update): 0
        case (.policy, .create), (.policy, .update): 1
        case (.policy, .remove): 2
        case (.filter, .remove): 3
        }
    }

    private var others: [PolicyPlan.Other] {
        unheld.map { .init(kind: $0.kind, id: $0.id, name: $0.document["displayName"]?.string ?? $0.id) }
    }

    /// Refuses to make what is on the service already, of the kind and name of a file without an id, and of no file: most likely what an
    /// apply made of it that was ended before it could note the id.
    func checkTwin(of file: PolicyFile) throws(CommandFailure) {
        let collection = PolicyPlan.Step.collection(of: file)
        let twin = unheld.first { document in
            document.kind == file.kind && document.document["displayName"] == file.members["displayName"]
                && PolicyPlan.Step.collection(of: PolicyFile(document, at: file.path)) == collection
        }
        guard let twin else { return }
        let kind = file.kind == .filter ? "filter" : "policy"
        throw CommandFailure(
            .refused, "\(file.path): the service already has a \(kind) of this name (\(twin.id)), which no file holds",
            hint: "Write that id into the file if it is the one, or give the file another displayName; then plan again."
        )
    }

    /// What is on the service and in no file, and was of none that is gone.
    private var unheld: [PresentDocument] {
        let known = Set(folder.files.values.compactMap { file in file.id.map { "\(file.kind)/\($0.lowercased())" } })
            .union(
                (folder.lock?.entries ?? [:]).filter { folder.files[$0.key] == nil }.map { path, entry in
                    "\(PolicyFile.kind(at: path))/\(entry.id.lowercased())"
                })
        return documents.filter { !known.contains("\($0.kind)/\($0.id.lowercased())") }
    }

    /// What changed on the service since the pull, where the file does not say the same already.
    private func drift(of file: PolicyFile) -> PolicyPlan.Drift? {
        guard let id = file.id else { return nil }
        guard let document = present(file.kind, id) else {
            return .init(file: file.path, name: file.name, members: [], isGone: true)
        }
        let said = PolicyFile(document, at: file.path)
        guard let entry = folder.entry(file.path), said.digest != entry.document else { return nil }
        let members = Set(said.members.keys).union(file.members.keys).filter { said.members[$0] != file.members[$0] }
        return members.isEmpty ? nil : Self.drift(said, document, members: members.sorted())
    }

    private static func drift(
        _ said: PolicyFile, _ document: PresentDocument, members: [String]
    ) -> PolicyPlan.Drift {
        .init(
            file: said.path, name: said.name, members: members, isGone: false, author: document.author?.id,
            modified: document.modified, reason: document.reason)
    }

    private func step(_ file: PolicyFile) async throws -> PolicyPlan.Step? {
        var step = PolicyPlan.Step(
            file: file.path, action: .create, kind: file.kind, collection: PolicyPlan.Step.collection(of: file),
            name: file.name, digest: folder.digests[file.path], impact: .null)
        guard let id = file.id else {
            guard folder.entry(file.path) == nil else {
                throw CommandFailure(
                    .badInput, "\(file.path): its id is missing",
                    hint: "Put it back, or give a copy another name. The lock has the id.")
            }
            try file.checkSpelling(besides: nil)
            try checkTwin(of: file)
            step.impact = try await impact(of: step, sending: try body(of: step))
            return step
        }
        guard let document = present(file.kind, id) else { return nil }
        let said = PolicyFile(document, at: file.path)
        try file.checkSpelling(besides: said)
        guard file.kind == .filter || file.policyKind == said.policyKind else {
            throw CommandFailure(.badInput, "\(file.path): is of another kind on the service")
        }
        (step.action, step.id, step.version) = (.update, document.id, document.version)
        let body = try body(of: step)
        guard body != .object([:]) else { return nil }
        step.impact = try await impact(of: step, sending: body)
        if step.kind == .policy, step.impact["changes"]?.array?.isEmpty ?? false { return nil }
        return step
    }

    private func removal(_ said: PolicyFile, _ document: PresentDocument) async throws -> PolicyPlan.Step {
        var step = PolicyPlan.Step(
            file: said.path, action: .remove, kind: said.kind, collection: PolicyPlan.Step.collection(of: said),
            name: said.name, id: document.id, version: document.version, impact: .null)
        step.impact = try await impact(of: step, sending: .null)
        return step
    }

    /// What a step sends: the whole of something new, or the members that differ. Secret values are in it.
    func body(of step: PolicyPlan.Step) throws -> JSONValue {
        guard step.action != .remove, let file = folder.files[step.file] else { return .null }
        var members = try file.resolved(in: folder.url, variables)
        guard let id = step.id, let document = present(step.kind, id) else { return .object(members) }
        let said = PolicyFile(document, at: step.file)
        members["@odata.type"] = nil
        var changes = members.filter { name, value in said.members[name] != value }
        for name in said.members.keys where members[name] == nil && name != "@odata.type" { changes[name] = .null }
        return .object(changes)
    }

    /// Asks the service what a step would do; its token for the change itself, and the rest.
    func impact(of step: PolicyPlan.Step, sending body: JSONValue) async throws -> JSONValue {
        try await ask(step, sending: body).impact
    }

    /// The answer in two parts: what goes into a plan, and the token that goes with the change.
    func ask(_ step: PolicyPlan.Step, sending body: JSONValue) async throws -> (impact: JSONValue, token: String?) {
        var question: [String: JSONValue] = [:]
        switch (step.kind, step.action) {
        case (.policy, .create): question["create"] = body
        case (.policy, .update): (question["policy"], question["update"]) = (step.id.map(JSONValue.string), body)
        case (.policy, .remove): (question["policy"], question["delete"]) = (step.id.map(JSONValue.string), true)
        case (.filter, .update):
            guard let rule = body["rule"] else { return (.null, nil) }
            (question["filter"], question["rule"]) = (step.id.map(JSONValue.string), rule)
        case (.filter, _): return (.null, nil)
        }
        let answer = try await client.send(.post, "admin/v1/impact", .object(question))
        guard answer.status == 200 else { throw ServiceClient.failure(answer, at: step.file) }
        guard PolicyPlan.Step.effect(answer.body) != nil, case .object(var members) = answer.body else {
            throw ServiceClient.unclear(answer, at: step.file)
        }
        let token = members["token"]?.string
        (members["token"], members["tokenExpires"]) = (nil, nil)
        if let file = folder.files[step.file] { members["changes"] = file.hidingReferences(in: members["changes"]) }
        return (.object(members), token)
    }
}
