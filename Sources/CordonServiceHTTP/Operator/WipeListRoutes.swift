import CordonIdentity
import CordonProtocol
import CordonService
import Foundation
import Hummingbird

/// Wipes with everything that is known of them: when each was asked for and by whom, how long it waits, and its receipt
/// (SRV-UI-17).
struct WipeListRoutes: Sendable {
    let administration: Administration

    /// A wipe as operators see it.
    private struct Wipe: Encodable {
        var id: String
        var registrationId: String
        var userId: String
        var bundleId: String
        var reason: Command.Reason
        var state: WipeOperation.State
        var requestedBy: String
        var requested: Date
        var modified: Date
        var notAfter: Date
        /// The steps that it has made, with their times.
        var steps: [WipeOperation.Step]
        var attempt: Int
        var failureReason: String?
        /// The receipt that the app signed, as it was verified; null before it came.
        var receipt: String?
        /// The wipe that took this one's place.
        var successorId: String?

        init(_ wipe: WipeOperation) {
            id = wipe.id
            registrationId = wipe.registrationID
            userId = wipe.account.rawValue
            bundleId = wipe.bundleID
            reason = wipe.reason
            state = wipe.state
            requestedBy = wipe.requestedBy
            requested = wipe.requested
            modified = wipe.modified
            notAfter = wipe.notAfter
            steps = [.init(state: .pending, time: wipe.requested)] + (wipe.steps ?? [])
            attempt = wipe.attempt
            failureReason = wipe.failure
            receipt = wipe.receipt
            successorId = wipe.successorID
        }
    }

    /// The most wipes of one answer, newest first; fewer where `top` says so.
    private static let most = 500

    func add(to routing: AdministrationRouting) {
        routing.allowing(.readApps).on("/admin/v1/wipes", method: .get) { request, context in
            let query = request.uri.queryParameters
            let limit = query["top"].flatMap { Int($0) }.map { min(max($0, 1), Self.most) } ?? Self.most
            let wipes = try await administration.operations(
                ofUser: query["user"].map(String.init), after: query["after"].map(String.init), limit: limit,
                as: context.administrator)
            return try Response(.ok, wipes.map(Wipe.init))
        }
    }
}
