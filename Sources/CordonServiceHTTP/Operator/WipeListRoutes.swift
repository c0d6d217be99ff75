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
        /// The device, as the registration names it; null where that is not kept any more.
        var deviceTag: String?
        var deviceName: String?
        var deviceModel: String?
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

        init(_ wipe: WipeOperation, on device: DeviceDescription?) {
            id = wipe.id
            deviceTag = device?.tag
            deviceName = device?.name
            deviceModel = device?.model
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

    /// The states that `state` may ask for, by their words.
    private static let states: [String: Set<WipeOperation.State>] = [
        "open": Set(WipeOperation.State.allCases.filter(\.isOpen)), "failed": [.failed, .expired],
        "succeeded": [.succeeded], "cancelled": [.cancelled],
    ]

    func add(to routing: AdministrationRouting) {
        routing.allowing(.readApps).on("/admin/v1/wipes", method: .get) { request, context in
            let query = request.uri.queryParameters
            let asked = ["user", "state", "top"].compactMap { name in
                query[Substring(name)].map { (key: name, value: String($0)) }
            }
            let known = Dictionary(uniqueKeysWithValues: asked.map { ($0.key, $0.value) })
            if let state = known["state"], Self.states[state] == nil {
                throw Refusal(.badRequest, "query", "state must be open, failed, succeeded or cancelled.")
            }
            let (wipes, next) = try await administration.operations(
                ofUser: known["user"], in: known["state"].flatMap { Self.states[$0] },
                after: query["after"].map(String.init),
                limit: known["top"].flatMap { Int($0) } ?? Administration.mostOperations, as: context.administrator)
            // One read for the whole page.
            let registrations = try await administration.registrations(
                ids: Set(wipes.map(\.registrationID)).sorted(), as: context.administrator)
            let devices = Dictionary(registrations.map { ($0.id, $0.device) }, uniquingKeysWith: { first, _ in first })
            let shown = wipes.map { Wipe($0, on: devices[$0.registrationID]) }
            return try Response(page: shown, of: "/admin/v1/wipes", asked: asked, next: next)
        }
        routing.allowing(.readApps).on("/admin/v1/wipes/:wipe", method: .get) { _, context in
            let wipe = try await administration.operation(context.decodedKey("wipe"), as: context.administrator)
            let registration = try await administration.registrations(
                ids: [wipe.registrationID], as: context.administrator
            ).first
            return try Response(.ok, Wipe(wipe, on: registration?.device))
        }
    }
}
