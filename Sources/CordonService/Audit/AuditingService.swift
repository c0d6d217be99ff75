internal import CordonIdentity
internal import CordonProtocol
public import Foundation

/// A management service that notes refused calls in the audit log (SRV-CI-092): missing permissions, wrong keys,
/// accounts that are not entitled or not the enrolled ones.
///
/// What was done is in the log already: the wrapped service writes it together with the change itself, so that neither
/// is ever without the other. Refusals change nothing, and are written here. At most ``limit`` of them in a minute and
/// organisation are written, so that a stubborn caller does not fill the disk; the next record says how many were left out.
public struct AuditingService<Wrapped: ManagementService>: ManagementService {
    let wrapped: Wrapped
    let notes: RefusalNotes

    /// The most refusals that are written in one minute for one organisation.
    public static var limit: Int { 120 }

    /// Wraps a service; the store must be the one that the service uses.
    public init(
        _ wrapped: Wrapped, storage: any ServiceStorage, clock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.wrapped = wrapped
        self.notes = RefusalNotes(storage: storage, limit: Self.limit, clock: clock)
    }

    func noting<Result>(
        _ administrator: Administrator, _ call: String,
        _ body: () async throws(ServiceError) -> Result
    ) async throws(ServiceError) -> Result {
        do throws(ServiceError) {
            return try await body()
        } catch {
            if error.code == .forbidden {
                await notes.note(error, call, by: .init(.administrator, id: administrator.id), of: administrator.tenant)
            }
            throw error
        }
    }

    func noting<Result>(
        _ caller: DeviceCaller, _ call: String, _ body: () async throws(ServiceError) -> Result
    ) async throws(ServiceError) -> Result {
        do throws(ServiceError) {
            return try await body()
        } catch {
            if error.isRefusalOfDevice {
                await notes.note(error, call, by: .init(.device, id: caller.keyThumbprint), of: caller.tenant)
            }
            throw error
        }
    }
}

extension ServiceError {
    /// Whether a device was refused for who it is, rather than for what it sent.
    fileprivate var isRefusalOfDevice: Bool {
        switch status {
        case .notLicensed, .notEnrolledAccount, .alreadyEnrolled, .authenticationRequired: true
        default: code == .wrongKey || code == .forbidden
        }
    }
}
