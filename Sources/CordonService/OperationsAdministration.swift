public import CordonProtocol
public import Foundation

/// What an operator sets and sees beside policies: working time, settings, logs, telemetry and the rights of people whose
/// data it is. Every call throws ``ServiceError``.
public protocol OperationsAdministration: Sendable {
    /// What the time-keeping system said last of a person, nil where it says nothing (SRV-CI-009).
    func workingTime(
        ofUser id: String, as administrator: Administrator
    ) async throws(ServiceError) -> WorkingTimeReport?

    /// Takes what the time-keeping system says; an older report than the one known changes nothing (SRV-CI-026).
    func setWorkingTime(_ time: WorkingTimeReport, ofUser id: String, as administrator: Administrator)
        async throws(ServiceError)

    /// What the service asks of every app (SRV-CI-016).
    func serviceSettings(as administrator: Administrator) async throws(ServiceError) -> ServiceSettings

    /// Replaces what the service asks of every app; every registration is told.
    func setServiceSettings(_ settings: ServiceSettings, as administrator: Administrator) async throws(ServiceError)

    /// Asks an app for its logs; the person must consent before it sends any (SRV-CI-015).
    func requestLogs(ofRegistration id: String, as administrator: Administrator) async throws(ServiceError)
        -> LogCollection

    /// The logs that were asked for, newest first.
    func logCollections(as administrator: Administrator) async throws(ServiceError) -> [LogCollection]

    /// The logs themselves.
    ///
    /// - Throws: ``ServiceError`` with code `conflict` while they are not complete.
    func logs(_ id: String, as administrator: Administrator) async throws(ServiceError) -> Data

    /// How many events of each kind came on each day, oldest first (SRV-CI-075).
    func telemetry(as administrator: Administrator) async throws(ServiceError) -> [TelemetryDay]

    /// Everything that the service keeps about a person, as JSON documents by kind (SRV-CI-095); found by object id or
    /// sign-in name, and by object id alone once the person has left the directory.
    func exportUser(_ id: String, as administrator: Administrator) async throws(ServiceError) -> PersonalData

    /// Removes everything that the service keeps about a person, except that the audit log goes on naming object ids, and
    /// that the object id of somebody who was in the directory is kept as removed, so that a token does not bring them back.
    /// A directory source that still has them does.
    ///
    /// - Throws: ``ServiceError`` with code `conflict` while a wipe of theirs is under way: the data on the device goes
    ///   first.
    func eraseUser(_ id: String, as administrator: Administrator) async throws(ServiceError)
}
