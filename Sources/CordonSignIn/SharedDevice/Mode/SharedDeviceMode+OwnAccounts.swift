public import CordonIdentity

extension SharedDeviceMode {
    /// Removes the accounts that the app kept by itself before the device became shared: from then on the device's one
    /// account is the only one (SI-040, SI-155).
    ///
    /// Call it at launch and on every value of ``accountChanges()``. While the device is not shared it changes nothing, and
    /// where nothing is left to remove it does nothing. An account's tokens work until its data has been cleared, so that
    /// a registration can be ended with them; then they are destroyed here and revoked at the provider.
    /// - Parameters:
    ///   - client: What the app signed people in with.
    ///   - clearData: Removes what the app stored for an account. One that throws is called again by the next call, and
    ///     the account keeps its tokens until then.
    /// - Returns: The accounts that were removed.
    /// - Throws: ``SignInError`` where the broker cannot be asked, with nothing removed, or with code `storage` where a
    ///   session cannot be destroyed; or what the app's own work throws.
    @discardableResult
    public func removeOwnAccounts(
        of client: SignInClient, clearData: @Sendable (AccountID) async throws -> Void
    ) async throws -> [AccountID] {
        let own = try await client.storedAccounts()
        guard !own.isEmpty, try await deviceInformation().isShared else { return [] }
        for account in own {
            try await clearData(account)
            try await client.signOut(account)
        }
        return own
    }
}
