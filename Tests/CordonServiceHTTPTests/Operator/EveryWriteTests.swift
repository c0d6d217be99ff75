import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import CordonGraph
@testable import CordonServiceHTTP

/// Every route that writes, and what keeps one stolen session from emptying an organisation by it.
///
/// The routes are read from the routers: a new one that is not in the table fails, so that its author says what it can do.
@Suite struct EveryWriteTests {
    /// What stands between a session and harm by a route.
    private enum Guarding: Equatable {
        /// People may lose data by it: the hour's budget, and above it a second person.
        case budget
        /// Always a second person.
        case secondPerson
        /// A fresh sign-in, and an alert or a record; no data is removed by it.
        case freshSignIn
        /// It takes nothing away that is not kept as a version or asked again.
        case harmless
        /// Apps of another platform, which take no rules from here.
        case noRules
        /// The service has nothing of this kind.
        case refused
        /// Devices and providers, with proofs of their own; no administrator.
        case notAdministration
    }

    private static let lists = ["apps", "assignments"]

    private static let table: [String: Guarding] = {
        var table: [String: Guarding] = [
            "DELETE /*/deviceAppManagement/managedAppRegistrations/*": .freshSignIn,
            "DELETE /*/deviceAppManagement/managedAppRegistrations/*/operations/*": .harmless,
            "POST /*/users/*/managedAppLogCollectionRequests": .harmless,
            "POST /*/users/*/wipeManagedAppRegistrationsByDeviceTag": .budget,
            "POST /*/users/*/wipeManagedAppRegistrationByDeviceTag": .budget,
            "POST /*/users/*/wipeManagedAppRegistrationsByAzureAdDeviceId": .refused,
            "POST /*/users/*/wipeAndBlockManagedApps": .budget,
            "POST /*/users/*/unblockManagedApps": .freshSignIn,
            "POST /*/users/*/revokeSignInSessions": .harmless,
            "POST /*/deviceManagement/reports/exportJobs": .harmless,
            "POST /*/deviceManagement/roleScopeTags": .harmless,
            "PATCH /*/deviceManagement/roleScopeTags/*": .harmless,
            "DELETE /*/deviceManagement/roleScopeTags/*": .harmless,
            "POST /*/deviceManagement/assignmentFilters": .harmless,
            "PATCH /*/deviceManagement/assignmentFilters/*": .budget,
            // Refused while a policy names it.
            "DELETE /*/deviceManagement/assignmentFilters/*": .harmless,
            "POST /*/deviceAppManagement/mobileApps": .budget,
            "PATCH /*/deviceAppManagement/mobileApps/*": .budget,
            "DELETE /*/deviceAppManagement/mobileApps/*": .budget,
            "POST /*/groups": .harmless,
            // Each request inside goes the way of its own route.
            "POST /*/$batch": .harmless,
            "PUT /admin/v1/allowedAccounts": .freshSignIn,
            "POST /admin/v1/policies/*/versions/*/putBack": .budget,
            "POST /admin/v1/filters/*/versions/*/putBack": .budget,
            "POST /admin/v1/changes/*/release": .freshSignIn,
            "POST /admin/v1/changes/*/stop": .harmless,
            "POST /admin/v1/impact": .harmless,
            "DELETE /admin/v1/commands/*": .harmless,
            "DELETE /admin/v1/devices/*": .harmless,
            "PUT /admin/v1/moving": .freshSignIn,
            "POST /admin/v1/reports/filters": .harmless,
            "DELETE /admin/v1/reports/filters/*": .harmless,
            "DELETE /admin/v1/users/*/data": .budget,
            "PUT /admin/v1/users/*/workingTime": .harmless,
            "POST /admin/v1/keys": .freshSignIn,
            "POST /admin/v1/registrations/*/commands": .harmless,
            "POST /admin/v1/registrations/*/logs": .harmless,
            "DELETE /admin/v1/restoration": .freshSignIn,
            "PUT /admin/v1/roles/*": .secondPerson,
            "DELETE /admin/v1/roles/*": .freshSignIn,
            "PUT /admin/v1/settings": .freshSignIn,
            "POST /scim/v2/Users": .harmless,
            "PUT /scim/v2/Users/*": .budget,
            "PATCH /scim/v2/Users/*": .budget,
            "DELETE /scim/v2/Users/*": .budget,
            "POST /scim/v2/Groups": .harmless,
            "PUT /scim/v2/Groups/*": .budget,
            "PATCH /scim/v2/Groups/*": .budget,
            "DELETE /scim/v2/Groups/*": .budget,
            "POST /*/deviceAppManagement/targetedManagedAppConfigurations/*/settings": .refused,
            "POST /*/deviceAppManagement/targetedManagedAppConfigurations/*/changeSettings": .refused,
        ]
        for kind in [
            "windowsInformationProtectionPolicies", "mdmWindowsInformationProtectionPolicies",
            "windowsManagedAppProtections", "mobileAppConfigurations",
        ] { table["POST /*/deviceAppManagement/\(kind)"] = .refused }
        let collections: [(String, Guarding)] = [
            ("managedAppPolicies", .budget), ("iosManagedAppProtections", .budget),
            ("defaultManagedAppProtections", .budget), ("androidManagedAppProtections", .noRules),
            ("targetedManagedAppConfigurations", .noRules),
        ]
        for (collection, guarding) in collections {
            let path = "/*/deviceAppManagement/\(collection)"
            for operation in [
                "POST \(path)", "PATCH \(path)/*", "DELETE \(path)/*", "POST \(path)/*/assign",
                "POST \(path)/*/targetApps",
            ] { table[operation] = guarding }
            for list in lists {
                for operation in ["POST \(path)/*/\(list)", "PATCH \(path)/*/\(list)/*", "DELETE \(path)/*/\(list)/*"] {
                    table[operation] = guarding
                }
            }
            table["POST \(path)/hasPayloadLinks"] = .harmless
        }
        for list in ["appliedPolicies", "intendedPolicies"] {
            for action in ["assign", "targetApps"] {
                table["POST /*/deviceAppManagement/managedAppRegistrations/*/\(list)/*/\(action)"] = .budget
            }
        }
        return table
    }()

    /// Operations of a service that are for administrators and write, keys without names.
    private static func writes(_ test: TestService) -> Set<String> {
        func plain(_ path: String) -> String {
            path.split(separator: "/").map { $0.hasPrefix(":") || $0.hasPrefix("{") ? "*" : String($0) }
                .reduce("") { $0 + "/" + $1 }
        }
        var routes = Set(test.graph.table.routes.map { "\($0.method.rawValue) " + plain("/*/\($0.name)") })
        routes.insert("POST /*/$batch")
        for route in test.routes where !route.contains("**") {
            let halves = route.split(separator: " ", maxSplits: 1)
            routes.insert("\(halves[0]) \(plain(String(halves[1])))")
        }
        return routes.filter { route in
            !route.hasPrefix("GET ") && !route.hasPrefix("HEAD ") && !isOfDevices(route)
                && !route.lowercased().hasSuffix(" /v1.0") && !route.lowercased().hasSuffix(" /beta")
        }
    }

    private static func isOfDevices(_ route: String) -> Bool {
        route.contains(" /mam/v1/") || route.contains(" /cordon/v1/") || route.contains("/oauth2/")
            || route.contains(" /idp/")
    }

    @Test func `every route that writes is in the table, and no other`() async throws {
        let routes = Self.writes(try await TestService())
        #expect(routes.subtracting(Self.table.keys).sorted() == [], "say in the table what keeps these from harm")
        #expect(Set(Self.table.keys).subtracting(routes).sorted() == [])
    }

    @Test func `every route that asks for a fresh sign-in refuses an old one, and those that wipe by name too`()
        async throws
    {
        let organisation = try await Organisation()
        let byName = ["wipeManagedApp", "wipeAndBlock", "/data", "roles"]
        let asked = Self.table.filter { entry in
            entry.value == .freshSignIn
                || (entry.value != .refused && byName.contains { entry.key.contains($0) }
                    && !entry.key.contains("filters"))
        }
        #expect(asked.count > 12)
        try await organisation.test.test { client in
            for route in asked.keys.sorted() {
                let halves = route.split(separator: " ").map(String.init)
                let method = try #require(HTTPRequest.Method(halves[0]))
                var parts = halves[1].split(separator: "/").map { $0 == "*" ? "x" : String($0) }
                if halves[1].hasPrefix("/*/") { parts[0] = "v1.0" }
                let path = "/" + parts.joined(separator: "/")
                let answer = try await client.administer(
                    method, path, method == .delete ? nil : [:], claims: organisation.claims(age: 3_600))
                #expect(answer.status == .unauthorized, "\(route)")
            }
        }
    }

    @Test func `with no budget no route makes any person lose data, and each says what it waits for`() async throws {
        var tried: Set<String> = []
        for attempt in Attempt.all {
            let organisation = try await Organisation(isByCatalogue: attempt.isByCatalogue)
            #expect(try await organisation.lost() == [], "\(attempt.route)")
            try await organisation.test.test { client in
                let call = try await organisation.call(attempt, client)
                let answer = try await client.administer(
                    attempt.method, call.path, call.body, claims: organisation.claims())
                #expect(answer.status == .conflict, "\(attempt.route): \(answer.status) \(answer.json.text())")
                #expect(answer.headers[.waitingChange] != nil, "\(attempt.route)")
            }
            #expect(try await organisation.lost() == [], "\(attempt.route)")
            tried.insert(attempt.route.split(separator: "?").first.map(String.init) ?? "")
        }
        let ofTable = Self.table.filter { $0.value == .budget || $0.value == .secondPerson }.keys
        // What goes through the very same code under another name is not tried again.
        let same = ofTable.filter { route in
            route.contains("managedAppPolicies") || route.contains("appliedPolicies")
                || route.contains("defaultManagedAppProtections")
        }
        #expect(Set(ofTable).subtracting(same).subtracting(tried).sorted() == [])
    }

    @Test func `the control: with a budget the same calls pass and people lose data`() async throws {
        var passed = 0
        for attempt in Attempt.all.prefix(4) {
            let organisation = try await Organisation(budget: 100)
            try await organisation.test.test { client in
                let call = try await organisation.call(attempt, client)
                let answer = try await client.administer(
                    attempt.method, call.path, call.body, claims: organisation.claims())
                #expect((200...299).contains(answer.status.code), "\(attempt.route): \(answer.json.text())")
            }
            passed += try await organisation.lost().count
        }
        #expect(passed == 4)
    }
}
