internal import CordonIdentity

/// Saving a copy to a place (SDK-DT-01…12, SRV-RS-033, SRV-RS-034, CQ-13).
///
/// Nothing is blocked while data may go to every app; everything is while it may go to none.
enum SaveAsRule {
    static func apply<C: FindingCollector>(
        _ question: borrowing Question, _ policy: PolicyInForce, to findings: inout C
    ) {
        findings.consider(.saveAs, policy)
        guard let location = question.location else {
            findings.missing("location", for: .saveAs, "saveAsBlocked", of: policy)
            return
        }
        guard location.saveNumber != nil else {
            findings.report(
                .block, .saveAs, "", of: policy,
                Wording("Nothing can be saved to \(location.name).", "Name a place for saving."))
            return
        }
        switch policy.transfer.outbound {
        case .allApps: return
        case .none:
            findings.report(
                .block, .saveAs, "allowedOutboundDataTransferDestinations", of: policy,
                Wording("Organisation data may not leave this app, so no copy can be saved.", "Edit it where it is."))
        case .managedApps:
            guard policy.transfer.saveAsBlocked else { return }
            guard let exception = location.storageException, policy.transfer.storageLocations.contains(exception) else {
                findings.report(
                    .block, .saveAs, "saveAsBlocked", of: policy,
                    Wording("Copies of organisation data may not be saved to \(location.name).", places(of: policy))
                )
                return
            }
            if !PlaceAccount.accepts(question.locationAccount, at: location, for: question.owner) {
                findings.report(
                    .block, .saveAs, "allowedDataStorageLocations", of: policy,
                    Wording(
                        "This place does not belong to the work account that owns the data.",
                        PlaceAccount.remedy(at: location)))
            }
        }
    }

    private static func places(of policy: PolicyInForce) -> String {
        let names = StorageLocations.names.filter { policy.transfer.storageLocations.contains($0.member) }.map(\.name)
        return names.isEmpty
            ? "Edit it where it is." : "Save it to \(names.joined(separator: ", ")) of the work account."
    }
}

/// Whether the account of an excepted place is the right one.
enum PlaceAccount {
    static func accepts(_ account: AccountID?, at location: Location, for owner: EffectiveIdentity?) -> Bool {
        if location.belongsToNobody { return account == nil }
        guard let account, let own = owner?.account, !account.rawValue.isEmpty else { return false }
        return account == own
    }

    static func remedy(at location: Location) -> String {
        location.belongsToNobody
            ? "Ask without an account: none belongs to this place."
            : "Use the place of the same work account."
    }
}
