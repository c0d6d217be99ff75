import CordonPolicy
import CordonProtocol
import CordonService
import CordonServiceHTTP

/// What has to hold before a person's apps are protected, looked at one by one (SRV-OP-065, SRV-TG-40).
struct UserChecks: Sendable {
    let administration: Administration

    /// One thing that has to hold.
    struct Check: Sendable {
        var name: String
        var passed: Bool
        var remedy: String

        /// As `managedAppDiagnosticStatus` (SRV-RS-134).
        var json: JSONValue {
            [
                "@odata.type": "#microsoft.graph.managedAppDiagnosticStatus", "validationName": .string(name),
                "state": .string(passed ? "Pass" : "Fail"),
                "mitigationInstruction": .string(passed ? "" : remedy),
            ]
        }
    }

    /// Every check of a person, in the order in which to mend them.
    func all(of user: DirectoryUser, _ exchange: GraphExchange) async throws -> [Check] {
        let registrations = try await exchange.registrations(administration, RegistrationFilter(userID: user.id))
        let policies = try await UserPolicies(administration: administration).all(of: user, exchange)
        let isBlocked = try await administration.isBlocked(user: user.id, as: exchange.administrator)
        let isClean = registrations.allSatisfy { $0.health.flagged.isEmpty }
        return [
            Check(name: "Account enabled", passed: user.accountEnabled, remedy: "Enable the account."),
            // Scripts look for the first of these names; both say the same.
            Check(name: "Intune License", passed: user.isLicensed, remedy: "Give the person a licence."),
            Check(name: "Licence", passed: user.isLicensed, remedy: "Give the person a licence."),
            Check(
                name: "Policy assigned", passed: policies.contains { $0.kind != .targetedManagedAppConfiguration },
                remedy: "Assign a protection policy to a group of the person."),
            Check(
                name: "App checked in", passed: !registrations.isEmpty,
                remedy: "Let the person sign in to an app that a policy targets."),
            Check(
                name: "Not blocked", passed: !isBlocked, remedy: "Unblock the person."),
            Check(name: "Device health", passed: isClean, remedy: "Have a look at the flagged device."),
        ]
    }
}

/// What reaches a person in any app (SRV-OP-064).
struct UserPolicies: Sendable {
    let administration: Administration

    /// The policies that reach a person in an app that some policy is about or that the person uses, ordered by id.
    func all(of user: DirectoryUser, _ exchange: GraphExchange) async throws -> [ManagedAppPolicy] {
        let policies = try await exchange.policies(administration)
        let registrations = try await exchange.registrations(administration, RegistrationFilter(userID: user.id))
        // An app that is not in the catalogue stands for every other one.
        var apps: Set<String> = ["(any)"]
        for app in policies.flatMap(\.apps) where app.platform == .ios { apps.insert(app.value.lowercased()) }
        for registration in registrations { apps.insert(registration.application.bundleID.lowercased()) }
        if policies.contains(where: { ![.selectedPublicApps, .allApps].contains($0.appGroup) }) {
            // Of the apps that are in the same named sets, one stands for all.
            let catalogue = try await administration.resources(CatalogueApp.self, as: exchange.administrator)
            apps.formUnion(
                Dictionary(grouping: catalogue, by: \.groups).values.compactMap { $0.first?.bundleID.lowercased() })
        }
        var reached: Set<String> = []
        for app in apps.sorted() {
            try AdministrationDeadline.check()
            let intended = try await administration.intendedPolicies(
                forUser: user.id, bundleID: app, as: exchange.administrator)
            reached.formUnion(intended.map(\.id))
        }
        return policies.filter { reached.contains($0.id) }
    }
}
