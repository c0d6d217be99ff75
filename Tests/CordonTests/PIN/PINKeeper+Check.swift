import CordonIdentity
import CordonPolicy

@testable import Cordon

/// For tests that are not about what a PIN opens.
extension PINKeeper {
    func check(_ pin: String, of account: AccountID, limit: Int) async throws(ProtectionError) -> Check {
        try await guess(pin, of: account, limit: limit).check
    }

    @discardableResult
    func set(
        _ pin: String, of account: AccountID, requirements: PINRequirements
    ) async throws(ProtectionError) -> [PINRequirements.Problem] {
        try await make(pin, of: account, requirements: requirements, inPlace: .any).problems
    }
}
