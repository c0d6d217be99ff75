public import CordonIdentity
internal import CordonProtocol
internal import Foundation
internal import Logging

extension StoredManagementService {
    /// The alerts of the last thirty days, newest first.
    public func alerts(as administrator: Administrator) async throws(ServiceError) -> [OperatorAlert] {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
            try records.records(OperatorAlert.self).sorted { ($1.time, $1.id) < ($0.time, $0.id) }
        }
    }

    /// Hands every alert that is due to a receiver, oldest first; what it did not take is tried again later (SRV-TG-29).
    ///
    /// For a timer to call. An alert is noted as delivered after the receiver took it, so that a crash between the two
    /// delivers it once more, with the same id, and none is lost.
    ///
    /// - Parameter send: Delivers one alert in bounded time; whether the receiver has it. Where one is not taken, the rest
    ///   waits for the next call: most likely the receiver is down.
    public func deliverAlerts(
        of tenant: TenantID, by send: @Sendable (OperatorAlert) async -> Bool
    ) async throws(ServiceError) {
        let now = self.now
        let due = try await storage.read(tenant) { records throws(ServiceError) in
            try records.records(OperatorAlert.self, where: (.state, "open"))
                .filter { $0.nextDelivery.map { $0 <= now } ?? false }.sorted { ($0.time, $0.id) < ($1.time, $1.id) }
        }
        for alert in due {
            let isDelivered = await send(alert)
            let limit = configuration.alertDeliveryLimit
            let isGivenUp = try await change(tenant) { transaction, _ throws(ServiceError) in
                // The person may have been erased meanwhile.
                guard var known = try transaction.record(OperatorAlert.self, alert.id) else { return false }
                known.noteDelivery(succeeded: isDelivered, at: now, limit: limit)
                try transaction.save(known)
                return !isDelivered && known.nextDelivery == nil
            }
            if isGivenUp { logger.error("an alert could not be delivered", metadata: ["alert": "\(alert.id)"]) }
            guard isDelivered else { return }
        }
    }

    /// Keeps an alert about a wipe that has failed and is not tried again.
    func raiseAlert(
        about operation: WipeOperation, of tenant: TenantID, at now: Date, in transaction: some StorageTransaction
    ) throws(ServiceError) {
        logger.warning("a wipe has failed for good", metadata: ["operation": "\(operation.id)"])
        let alert = OperatorAlert(
            id: ids.token(), kind: .wipeFailed, time: now, operationID: operation.id,
            registrationID: operation.registrationID, userID: operation.account.rawValue,
            bundleID: operation.bundleID, attempts: operation.attempt)
        try transaction.save(alert)
        try transaction.audit(
            .service, "wipe.alert", "operation/\(operation.id)", of: tenant, at: now, details: ["alert": alert.id])
    }
}

extension StorageTransaction {
    /// Removes the alerts from before a moment.
    func removeAlerts(before oldest: Date) throws(ServiceError) {
        for alert in try records(OperatorAlert.self) where alert.time <= oldest {
            try remove(OperatorAlert.self, alert.id)
        }
    }
}
