internal import CordonBase
internal import CordonIdentity

/// Bringing data into organisation documents (SDK-DT-13…17, SRV-RS-035, SRV-RS-036).
enum OpenFromRule {
    static func apply<C: FindingCollector>(
        _ question: borrowing Question, _ policy: PolicyInForce, to findings: inout C
    ) {
        findings.consider(.openFrom, policy)
        guard let location = question.location else {
            findings.missing("location", for: .openFrom, "blockDataIngestionIntoOrganizationDocuments", of: policy)
            return
        }
        guard location.openNumber != nil else {
            findings.report(
                .block, .openFrom, "", of: policy,
                Wording(Texts.denialNothingCanBeOpenedFrom(place: location.name), Texts.denialNameSourceForOpening))
            return
        }
        switch policy.transfer.inbound {
        case .allApps: return
        case .none:
            findings.report(
                .block, .openFrom, "allowedInboundDataTransferSources", of: policy,
                Wording(Texts.denialThisWorkAccountTakesNoData, Texts.denialCreateDataInThisApp))
        case .managedApps:
            guard policy.transfer.ingestionBlocked else { return }
            guard let exception = location.ingestionException, policy.transfer.ingestionLocations.contains(exception)
            else {
                findings.report(
                    .block, .openFrom, "blockDataIngestionIntoOrganizationDocuments", of: policy,
                    Wording(
                        Texts.denialDataFromMayNotBeBrought(place: location.name),
                        sources(of: policy)))
                return
            }
            if !PlaceAccount.accepts(question.locationAccount, at: location, for: question.owner) {
                findings.report(
                    .block, .openFrom, "allowedDataIngestionLocations", of: policy,
                    Wording(
                        Texts.denialThisSourceDoesNotBelongTo,
                        PlaceAccount.remedy(at: location)))
            }
        }
    }

    private static func sources(of policy: PolicyInForce) -> String {
        let names = Location.allCases.filter { location in
            location.ingestionException.map { policy.transfer.ingestionLocations.contains($0) } ?? false
        }.map(\.name)
        return names.isEmpty
            ? Texts.denialCreateDataInThisApp : Texts.denialOpenItFrom(places: names.joined(separator: ", "))
    }
}
