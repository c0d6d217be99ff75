import CordonDevelopmentProvider
import CordonService
import CordonServiceHTTP

extension CommandFailure {
    /// What a person is told of an error of the embedded provider.
    init(_ error: IdentityProviderError) {
        let status: ExitStatus =
            switch error.code {
            case .fileUnwritable: .writeFailed
            case .notLoopback: .refused
            default: .badInput
            }
        self.init(status, "\(error.place): \(error.reason)", hint: error.hint)
    }

    /// What a person is told of an error of the server.
    init(_ error: ServiceServerError) {
        let status: ExitStatus =
            switch error.code {
            case .addressInUse, .addressUnavailable, .fileUnusable, .failed: .writeFailed
            case .notLoopback: .refused
            case .configurationInvalid: .badInput
            }
        self.init(status, "\(error.place): \(error.reason)", hint: error.hint)
    }

    /// What a person is told of an error of the service at its start.
    init(_ error: ServiceError) {
        let status: ExitStatus = error.code == .storageUnavailable ? .writeFailed : .badInput
        let place = error.place.map { "\($0): " } ?? ""
        self.init(status, place + error.reason, hint: error.hint)
    }
}
