internal import CordonBase
public import CordonIdentity
internal import CordonPolicy

/// What the person is told after a denial. Cordon shows none of it by itself: an app has usually something better to say first.
extension EgressOutlets {
    /// Tells the person that something may not be shared, and why (SDK-DT-20); returns when they have seen it.
    ///
    /// ```swift
    /// do { permit = try protection.permit(for: .send(to: .unmanagedApp, of: owner)) }
    /// catch { await protection.outlets.showSharingBlocked(error, of: account) }
    /// ```
    public func showSharingBlocked(_ denial: ProtectionError, of account: AccountID?) async {
        await show(denial, as: .sharingBlocked, of: account)
    }

    /// Tells the person that something may not be printed, and why (SDK-PR-02); returns when they have seen it.
    public func showPrintingBlocked(_ denial: ProtectionError, of account: AccountID?) async {
        await show(denial, as: .printingBlocked, of: account)
    }

    /// Tells the person that the organisation did not pin a server's key (SDK-CP-03); returns when they have seen it.
    public func showConnectionBlocked(to host: String, because failure: PinningFailure, of account: AccountID?) async {
        let cause = ProtectionNotice.Cause(
            message: Texts.gateWhatAnsweredAsCouldNotBe(failure: failure.rawValue, host: host),
            remedy: Texts.gateTryAnotherNetworkOrTellAdministrator)
        await show(.connectionBlocked, [cause], of: account)
    }

    private func show(_ denial: ProtectionError, as kind: ProtectionNotice.Kind, of account: AccountID?) async {
        let reasons = (denial.denial?.reasons ?? []).filter { !$0.verdict.permits }
        let causes =
            denial.denial == nil
            ? [ProtectionNotice.Cause(message: denial.reason, remedy: denial.hint)]
            : reasons.map { ProtectionNotice.Cause($0) }
        await show(kind, causes, of: account)
    }

    private func show(
        _ kind: ProtectionNotice.Kind, _ causes: [ProtectionNotice.Cause], of account: AccountID?
    ) async {
        let account = account.map { context.accounts.resolved($0) }
        var session = InterfaceSession(screens, account: account, occasion: .denial)
        await session.tell(ProtectionNotice(kind, account: account, causes: causes))
        await session.handBack()
    }
}
