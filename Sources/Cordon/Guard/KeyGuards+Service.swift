internal import CordonIdentity
internal import CordonProtocol
internal import CordonSignIn

extension KeyGuards.Service {
    /// Keeps shares with the account's service.
    init(_ service: ServiceAccess, _ accounts: AccountTable) {
        let session: @Sendable (AccountID, Bool) async throws(ServiceFailure) -> (ServiceAccess.Session, String) = {
            (account, isFresh) async throws(ServiceFailure) in
            guard let record = accounts[account] else {
                throw .refused(ProblemDetails(title: "the account is not enrolled in this app", status: 404))
            }
            let session = try await service.session(
                for: account, discovery: record.discovery, isRenewed: isFresh)
            return (session, record.registrationID)
        }
        keep = { (share, account) async throws(ServiceFailure) in
            let (session, id) = try await session(account, false)
            try await session.client.keep(share, registration: id, token: session.token)
        }
        // A token that was there before the sign-in says of an older one when it was.
        release = { (account) async throws(ServiceFailure) in
            let (session, id) = try await session(account, true)
            return try await session.client.releaseShare(registration: id, token: session.token)
        }
        forget = { (account) async throws(ServiceFailure) in
            let (session, id) = try await session(account, false)
            try await session.client.forgetShare(registration: id, token: session.token)
        }
    }
}
