internal import CordonBase
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
                Wording(Texts.denialNothingCanBeSavedTo(place: location.name), Texts.denialNamePlaceForSaving))
            return
        }
        switch policy.transfer.outbound {
        case .allApps: return
        case .none:
            findings.report(
                .block, .saveAs, "allowedOutboundDataTransferDestinations", of: policy,
                Wording(Texts.denialOrganisationDataMayNotLeaveThis, Texts.denialEditItWhereItIs))
        case .managedApps:
            guard policy.transfer.saveAsBlocked else { return }
            guard let exception = location.storageException, policy.transfer.storageLocations.contains(exception) else {
                findings.report(
                    .block, .saveAs, "saveAsBlocked", of: policy,
                    Wording(Texts.denialCopiesOfOrganisationDataMayNot(place: location.name), places(of: policy))
                )
                return
            }
            if !PlaceAccount.accepts(question.locationAccount, at: location, for: question.owner) {
                findings.report(
                    .block, .saveAs, "allowedDataStorageLocations", of: policy,
                    Wording(
                        Texts.denialThisPlaceDoesNotBelongTo,
                        PlaceAccount.remedy(at: location)))
            }
        }
    }

    private static func places(of policy: PolicyInForce) -> String {
        let names = Location.allCases.filter { location in
            location.storageException.map { policy.transfer.storageLocations.contains($0) } ?? false
        }.map(\.name)
        return names.isEmpty
            ? Texts.denialEditItWhereItIs : Texts.denialSaveItToOfWorkAccount(places: names.joined(separator: ", "))
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
            ? Texts.denialAskWithoutAccountNoneBelongsTo
            : Texts.denialUsePlaceOfSameWorkAccount
    }
}
