public import CordonIdentity
internal import CordonPolicy

/// What the person is told after a denial. Cordon shows neither by itself.
extension AppProtection {
    /// Tells the person that something may not be shared, and why (SDK-DT-20); returns when it was seen.
    public func showSharingBlocked(_ denial: EgressDenied, of account: AccountID?) async {
        await show(denial, as: .sharingBlocked, of: account)
    }

    /// Tells the person that something may not be printed, and why (SDK-PR-02); returns when it was seen.
    public func showPrintingBlocked(_ denial: EgressDenied, of account: AccountID?) async {
        await show(denial, as: .printingBlocked, of: account)
    }

    private func show(_ denial: EgressDenied, as kind: ProtectionNotice.Kind, of account: AccountID?) async {
        guard let interface = configuration.interface else { return }
        let causes = denial.decision.reasons.filter { !$0.verdict.permits }.map { ProtectionNotice.Cause($0) }
        let notice = ProtectionNotice(kind, account: account, causes: causes)
        _ = await Deadline.answer(within: configuration.interfaceDeadline, by: configuration.clock) {
            await interface.present(notice)
        }
    }
}
