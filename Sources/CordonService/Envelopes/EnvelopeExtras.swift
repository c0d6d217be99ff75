internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

/// What an envelope says beside policies and configurations.
struct EnvelopeExtras: Encodable, Equatable, Sendable {
    var clock: WorkingTime?
    var compliance: ComplianceReport?
    var service: ServiceSettings?
    var logRequests: [LogRequest]?

    /// Nothing.
    static let none = EnvelopeExtras()

    private init() {}

    /// Gathers what concerns one registration now.
    init(
        for user: DirectoryUser, registration id: String?, health: [CheckInRequest.DeviceHealth], isBlocked: Bool,
        settings: TenantSettings, at now: Date, in records: some StorageReader
    ) throws(ServiceError) {
        clock = try records.record(WorkingTimeRecord.self, user.storageID)?.time.workingTime
        let report = ComplianceReport.of(health: health, isBlocked: isBlocked, hasWipe: false)
        compliance = report.status == .compliant ? nil : report
        service = settings.service
        guard let id else { return }
        let open = try records.records(LogCollection.self, where: (.registration, id))
            .filter { $0.isOpen(at: now) }.map(\.request)
        logRequests = open.isEmpty ? nil : open
    }
}

extension ComplianceReport {
    /// How compliance stands; the reason that weighs most is told.
    static func of(health: [CheckInRequest.DeviceHealth], isBlocked: Bool, hasWipe: Bool) -> ComplianceReport {
        if isBlocked { return ComplianceReport(.notCompliant, textID: .userBlocked) }
        if hasWipe { return ComplianceReport(.notCompliant, textID: .wipePending) }
        if health.contains(.rootedDevice) { return ComplianceReport(.notCompliant, textID: .rootedDevice) }
        return ComplianceReport(.compliant)
    }
}
