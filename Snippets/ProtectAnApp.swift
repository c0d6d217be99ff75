// Cordon in an app: the lines of the README, compiled.

import Cordon
import CordonIdentity
import CordonPolicy
import Foundation

func run(
    _ configuration: ProtectionConfiguration, _ account: ManagedAccount, _ report: Data, _ printer: some Printer,
    show: (String) -> Void
) async throws {
    // snippet.show
    let protection = try await AppProtection(configuration)  // re-verifies what is stored; starts nothing else
    await protection.enroll(account)  // signed rules are in force from here on
    Task { await protection.stayInTouch(for: account.id) }  // hears of new rules and wipes at once

    try await protection.write(report, as: "report.txt", of: account.id)  // sealed under the account's key

    do throws(EgressDenied) {
        let permit = try protection.permit(for: Question(.print, owner: .managed(account.id)))
        try? await protection.print(
            report, title: "Report", of: .managed(account.id), on: printer, permit: permit)
    } catch {
        show(error.decision.summary)  // what is refused, why, and what would be allowed
    }
    // snippet.hide
}
