import CordonDevelopmentProvider
import CordonProtocol
import CordonService
import CordonServiceHTTP

extension CommandFailure {
    /// The message to a person about a program that cannot start or go on.
    init(_ error: ProgramError) {
        let status: ExitStatus =
            switch error.code {
            case .fileUnusable, .fileUnwritable, .addressInUse, .addressUnavailable, .failed: .writeFailed
            case .notLoopback, .unsupported: .refused
            default: .badInput
            }
        self.init(status, (error.place.isEmpty ? "" : error.place + ": ") + error.reason, hint: error.hint)
    }

    /// The message to a person about an error of the service at its start.
    init(_ error: ServiceError) {
        let status: ExitStatus = error.code == .storageUnavailable ? .writeFailed : .badInput
        let place = error.place.map { "\($0): " } ?? ""
        self.init(status, place + error.reason, hint: error.hint)
    }
}
