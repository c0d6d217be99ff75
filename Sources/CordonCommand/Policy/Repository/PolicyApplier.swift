import CordonPolicy
import CordonService
import Foundation
import HTTPTypes

/// Carries out a plan: exactly that, or not at all, or up to where the service refused.
struct PolicyApplier {
    /// How it went.
    struct Report: Encodable, Equatable {
        /// What was made, also by an earlier run of the same plan.
        var applied: [String] = []
        /// Where it stopped.
        var stopped: Stop?
        /// What was not made.
        var left: [String] = []
    }

    /// Why it stopped.
    struct Stop: Encodable, Equatable {
        var file: String
        var reason: String
        /// The change that waits for a second person.
        var waitingChange: String?
    }

    let client: ServiceClient
    let place: URL
    let variables: [String: String]

    /// Carries out the plan at its place.
    ///
    /// - Throws: ``CommandFailure`` before anything is written: `refused` where files or versions are others than planned, or the
    ///   service would do something else than it said then.
    func apply(to folder: inout PolicyFolder) async throws -> Report {
        var plan = try PolicyPlan(reading: place)
        guard plan.service == PolicyFolder.name(of: client.address) else {
            throw CommandFailure(.refused, "the plan is for \(plan.service)", hint: "Plan for this service.")
        }
        guard plan.drift.isEmpty else {
            throw CommandFailure(
                .refused, "the plan found changes on the service that are in no file",
                hint: "Pull them, or plan with --take-files.")
        }
        let planner = PolicyPlanner(
            folder: folder, client: client, documents: try await client.documents(), variables: variables)
        try check(&plan, with: planner)
        var tokens: [String: String] = [:]
        for (index, step) in plan.steps.enumerated() where step.isDone != true {
            let (impact, token) = try await planner.ask(step, sending: try planner.body(of: step))
            if step.action == .update, step.kind == .policy, impact["changes"]?.array?.isEmpty ?? false {
                // Made by a run that was interrupted before it could note it.
                plan.steps[index].isDone = true
                continue
            }
            guard step.isCovered(impact) else {
                throw CommandFailure(
                    .refused, "\(step.file): the change would do something else now than the plan says",
                    hint: "Nothing was changed now. Plan again.")
            }
            tokens[step.file] = token
        }
        var report = Report()
        for (index, step) in plan.steps.enumerated() {
            guard step.isDone != true, report.stopped == nil else {
                if step.isDone == true { report.applied.append(step.file) } else { report.left.append(step.file) }
                continue
            }
            let answer: ServiceClient.Answer
            do { answer = try await send(step, with: planner, tokens[step.file]) } catch {
                // Of what was made until then, the files have the ids already; the lock follows where the service still answers.
                try? await note(plan, in: &folder)
                throw error
            }
            guard (200...299).contains(answer.status) else {
                let failure = ServiceClient.failure(answer)
                let reason = failure.message + (failure.hint.map { ". \($0)" } ?? "")
                report.stopped = Stop(file: step.file, reason: reason, waitingChange: answer.waitingChange)
                report.left.append(step.file)
                continue
            }
            guard let id = step.id ?? answer.madeID else {
                report.stopped = Stop(file: step.file, reason: ServiceClient.unclear(answer), waitingChange: nil)
                report.left.append(step.file)
                continue
            }
            plan.steps[index].isDone = true
            plan.steps[index].id = id
            try plan.write(to: place)
            try folder.note(id, at: step.file)
            report.applied.append(step.file)
        }
        try await note(plan, in: &folder)
        if report.left.isEmpty { try? FileManager.default.removeItem(at: place) }
        return report
    }

    /// Refuses what is not as it was planned, before anything is written.
    private func check(_ plan: inout PolicyPlan, with planner: PolicyPlanner) throws {
        for (index, step) in plan.steps.enumerated() where step.isDone != true {
            guard planner.folder.digests[step.file] == step.digest else {
                throw CommandFailure(
                    .refused, "\(step.file): was edited since the plan was made",
                    hint: "Nothing was changed. Plan again.")
            }
            if let id = step.id {
                let present = planner.present(step.kind, id)
                if step.action == .remove, let home = planner.folder.home(of: step.kind, id) {
                    throw CommandFailure(
                        .refused, "\(step.file): what it was of is in \(home) now",
                        hint: "Nothing was changed now. Plan again.")
                }
                if step.action == .remove, present == nil {
                    plan.steps[index].isDone = true
                    continue
                }
                guard let present else {
                    throw CommandFailure(.refused, "\(step.file): is not on the service any more", hint: "Plan again.")
                }
                guard present.version != step.version else { continue }
                let who = present.author.map { " by \($0.id)" } ?? ""
                // An interrupted run of this very plan may have made the change.
                guard step.action == .update, try planner.body(of: step) == .object([:]) else {
                    throw CommandFailure(
                        .refused, "\(step.file): was changed on the service\(who) since the plan was made",
                        hint: "Nothing was changed now. Pull, and plan again.")
                }
                plan.steps[index].isDone = true
            } else {
                guard let file = planner.folder.files[step.file] else { continue }
                try planner.checkTwin(of: file)
            }
        }
    }

    private func send(
        _ step: PolicyPlan.Step, with planner: PolicyPlanner, _ token: String?
    ) async throws -> ServiceClient.Answer {
        let body = try planner.body(of: step)
        return switch step.action {
        case .create: try await client.send(.post, step.path, body, impact: token)
        case .update: try await client.send(.patch, step.path, body, version: step.version, impact: token)
        case .remove: try await client.send(.delete, step.path, version: step.version, impact: token)
        }
    }

    /// Writes ids into the files of what was made, and what the service says now into the lock.
    private func note(_ plan: PolicyPlan, in folder: inout PolicyFolder) async throws {
        let documents = try await client.documents()
        for step in plan.steps where step.isDone == true {
            let document = documents.first { $0.kind == step.kind && $0.id.lowercased() == step.id?.lowercased() }
            guard let document, var file = folder.files[step.file] else {
                if step.action == .remove { try folder.remove(step.file) }
                continue
            }
            if file.id == nil {
                file.id = document.id
                try folder.write(file, as: document)
            } else {
                folder.note(document, at: step.file)
            }
        }
        try folder.writeLock()
    }
}
