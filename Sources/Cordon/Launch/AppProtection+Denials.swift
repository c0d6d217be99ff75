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

    /// Tells the person that a server's key is none that the organisation pinned (SDK-CP-03); returns when it was seen.
    public func showConnectionBlocked(to host: String, because failure: PinningFailure, of account: AccountID?) async {
        let cause = ProtectionNotice.Cause(
            message: "What answered as \(host) could not be shown to be that server (\(failure.rawValue)).",
            remedy: "Try another network, or tell the administrator.")
        await show(ProtectionNotice(.connectionBlocked, account: account, causes: [cause]))
    }

    private func show(_ denial: EgressDenied, as kind: ProtectionNotice.Kind, of account: AccountID?) async {
        let causes = denial.decision.reasons.filter { !$0.verdict.permits }.map { ProtectionNotice.Cause($0) }
        await show(ProtectionNotice(kind, account: account, causes: causes))
    }

    private func show(_ notice: ProtectionNotice) async {
        guard let interface = configuration.interface else { return }
        _ = await Deadline.answer(within: configuration.interfaceDeadline, by: configuration.clock) {
            await interface.present(notice)
        }
    }
}
