import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting

@testable import CordonServiceHTTP

extension EveryWriteTests {
    /// One call by which a person would lose data if nothing stood against it.
    struct Attempt: Sendable {
        /// The route, as the table has it.
        let route: String
        let body: JSONValue?
        /// What stands for each key of the route.
        let keys: [Key]
        /// Whether the plain policy is about the apps of a set in the catalogue.
        let isByCatalogue: Bool

        /// Something of the organisation that a route names.
        enum Key: Sendable {
            case plain, deadlyApart, deadlyAnywhere, deadlyElsewhere, person, group, elsewhere, filter, app
            case registration, entry(String), version, filterVersion, text(String)
        }

        init(_ route: String, _ keys: [Key], _ body: JSONValue? = nil, isByCatalogue: Bool = false) {
            (self.route, self.keys, self.body, self.isByCatalogue) = (route, keys, body, isByCatalogue)
        }

        var method: HTTPRequest.Method {
            HTTPRequest.Method(route.split(separator: " ").first.map(String.init) ?? "") ?? .get
        }

        private static let wipe: JSONValue = ["minimumWipeOsVersion": "99"]
        private static let app: JSONValue = [
            "mobileAppIdentifier": [
                "@odata.type": "#microsoft.graph.iosMobileAppIdentifier", "bundleId": .string(TestDevice.bundleID),
            ]
        ]
        private static let workers: JSONValue = [
            "target": [
                "@odata.type": "#microsoft.graph.groupAssignmentTarget", "groupId": .string(TestService.group),
            ]
        ]
        private static let other: JSONValue = [
            "mobileAppIdentifier": [
                "@odata.type": "#microsoft.graph.iosMobileAppIdentifier", "bundleId": "org.example.elsewhere",
            ]
        ]
        private static let ios = "/*/deviceAppManagement/iosManagedAppProtections"
        private static let scim = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
        private static let gone: JSONValue = [
            "schemas": [.string(scim)], "Operations": [["op": "replace", "path": "active", "value": false]],
        ]
        private static let joins: JSONValue = [
            "schemas": [.string(scim)],
            "Operations": [["op": "add", "path": "members", "value": [["value": .string(TestPerson.workerA.id)]]]],
        ]

        static let all: [Attempt] = [
            Attempt("PATCH \(ios)/*", [.plain], wipe),
            Attempt("DELETE \(ios)/*", [.plain]),
            Attempt("POST \(ios)/*/assign", [.deadlyApart], ["assignments": [workers]]),
            Attempt("POST \(ios)/*/targetApps", [.deadlyAnywhere], ["apps": [app]]),
            Attempt(
                "POST \(ios)", [],
                [
                    "displayName": "New", "minimumWipeOsVersion": "99", "apps": [app], "assignments": [workers],
                ]),
            Attempt("POST \(ios)/*/apps", [.deadlyAnywhere], app),
            Attempt("PATCH \(ios)/*/apps/*", [.plain, .entry("apps")], other),
            Attempt("DELETE \(ios)/*/apps/*", [.plain, .entry("apps")]),
            Attempt("POST \(ios)/*/assignments", [.deadlyApart], workers),
            Attempt("PATCH \(ios)/*/assignments/*", [.deadlyElsewhere, .entry("assignments")], workers),
            Attempt("DELETE \(ios)/*/assignments/*", [.plain, .entry("assignments")]),
            Attempt(
                "POST /*/deviceAppManagement/managedAppRegistrations/*/intendedPolicies/*/assign",
                [.registration, .plain], ["assignments": []]),
            Attempt(
                "POST /*/deviceAppManagement/managedAppRegistrations/*/intendedPolicies/*/targetApps",
                [.registration, .plain], ["apps": [other]]),
            Attempt(
                "POST /*/users/*/wipeManagedAppRegistrationsByDeviceTag", [.person], ["deviceTag": "tag-1"]),
            Attempt("POST /*/users/*/wipeManagedAppRegistrationByDeviceTag", [.person], ["deviceTag": "tag-1"]),
            Attempt("POST /*/users/*/wipeAndBlockManagedApps", [.person]),
            Attempt(
                "PATCH /*/deviceManagement/assignmentFilters/*", [.filter],
                ["rule": #"(app.deviceModel -ne "none")"#]),
            Attempt(
                "POST /*/deviceAppManagement/mobileApps", [],
                [
                    "@odata.type": "#microsoft.graph.managedIOSLobApp", "displayName": "Notes",
                    "bundleId": .string(TestDevice.bundleID), "cordonAppGroups": ["allMicrosoftApps"],
                ]),
            Attempt(
                "PATCH /*/deviceAppManagement/mobileApps/*", [.app], ["cordonAppGroups": []], isByCatalogue: true),
            Attempt("DELETE /*/deviceAppManagement/mobileApps/*", [.app], isByCatalogue: true),
            Attempt("POST /admin/v1/policies/*/versions/*/putBack", [.plain, .version]),
            Attempt("POST /admin/v1/filters/*/versions/*/putBack", [.filter, .filterVersion]),
            Attempt("DELETE /admin/v1/users/*/data?wipe=true", [.person]),
            Attempt(
                "PUT /admin/v1/roles/*", [.text("helpers")],
                ["displayName": "H", "permissions": ["approve"], "members": ["user:accomplice"]]),
            Attempt("PATCH /scim/v2/Users/*", [.person], gone),
            Attempt(
                "PUT /scim/v2/Users/*", [.person],
                [
                    "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"],
                    "externalId": .string(TestPerson.workerA.id), "userName": .string(TestPerson.workerA.name),
                    "active": false,
                ]),
            Attempt("DELETE /scim/v2/Users/*", [.person]),
            Attempt("PATCH /scim/v2/Groups/*", [.elsewhere], joins),
            Attempt(
                "PUT /scim/v2/Groups/*", [.elsewhere],
                [
                    "schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"], "displayName": "Elsewhere",
                    "members": [["value": .string(TestPerson.workerA.id)]],
                ]),
            Attempt("DELETE /scim/v2/Groups/*", [.group]),
        ]
    }
}

extension EveryWriteTests {
    /// A person with an app under a plain policy, among policies that would make it remove data: of others, of no app, of a filter that
    /// lets no app through, of a set that the app is not in, and a default protection that waits for the plain one to end.
    struct Organisation {
        let test: TestService
        let device = TestDevice()
        private let plain: String
        private let deadlyApart: String
        private let deadlyAnywhere: String
        private let deadlyElsewhere: String
        private let former: String
        private let formerFilter: String
        private static let elsewhere = "group-elsewhere"
        private static let filter = "filter-1"
        private static let wipe: [String: JSONValue] = ["minimumWipeOsVersion": "99"]

        /// - Parameter budget: How many people one session may make lose data.
        init(budget: Int = 0, isByCatalogue: Bool = false) async throws {
            var configuration = ServiceConfiguration()
            (configuration.wipeBudget, configuration.impactLimit) = (budget, 1_000)
            test = try await TestService(configuration: configuration)
            let (admin, owner) = (test.service.administration, TestService.owner)
            let app: JSONValue = [
                "mobileAppIdentifier": [
                    "@odata.type": "#microsoft.graph.iosMobileAppIdentifier",
                    "bundleId": .string(TestDevice.bundleID),
                ]
            ]
            func target(_ group: String, _ filter: String? = nil) -> JSONValue {
                var target: [String: JSONValue] = [
                    "@odata.type": "#microsoft.graph.groupAssignmentTarget", "groupId": .string(group),
                ]
                target["deviceAndAppManagementAssignmentFilterId"] = filter.map(JSONValue.string)
                target["deviceAndAppManagementAssignmentFilterType"] = filter.map { _ in "include" }
                return ["target": .object(target)]
            }
            func make(
                _ name: String, apps: [JSONValue], to targets: [JSONValue], set: String? = nil,
                kind: PolicyKind = .iosManagedAppProtection
            ) async throws -> ManagedAppPolicy {
                var document = Self.wipe
                (document["displayName"], document["apps"]) = (.string(name), .array(apps))
                if kind.isAssignable { document["assignments"] = .array(targets) }
                document["appGroupType"] = set.map(JSONValue.string)
                return try await admin.createPolicy(kind, document: .object(document), as: owner)
            }
            try await test.service.provisioning.saveGroup(
                DirectoryGroup(id: Self.elsewhere, displayName: "Elsewhere"), as: owner)
            let start = test.clock.now
            for (isNew, rule) in [(true, #"(app.deviceModel -ne "none")"#), (false, #"(app.deviceModel -eq "none")"#)] {
                try await admin.saveResource(
                    AssignmentFilter(
                        id: Self.filter, displayName: "Filter", rule: rule, created: start,
                        modified: isNew ? start : start + 1),
                    isNew: isNew, as: owner)
            }
            formerFilter = try await admin.history.versions(of: .filter, Self.filter, as: owner).last?.version ?? ""
            _ = try await make("Default", apps: [app], to: [], kind: .defaultManagedAppProtection)
            let set = "allMicrosoftApps"
            let first = try await make(
                "Plain", apps: isByCatalogue ? [] : [app], to: [target(TestService.group)],
                set: isByCatalogue ? set : nil)
            (plain, former) = (first.id, first.version)
            _ = try await admin.updatePolicy(
                first.id, changes: ["minimumWipeOsVersion": .null, "appActionIfUnableToAuthenticateUser": "wipe"],
                ifVersion: nil, as: owner)
            deadlyApart = try await make("Apart", apps: [app], to: []).id
            deadlyAnywhere = try await make("Anywhere", apps: [], to: [target(TestService.group)]).id
            deadlyElsewhere = try await make("Elsewhere", apps: [app], to: [target(Self.elsewhere)]).id
            _ = try await make("Filtered", apps: [app], to: [target(TestService.group, Self.filter)])
            if isByCatalogue {
                try await admin.saveResource(
                    CatalogueApp(
                        bundleID: TestDevice.bundleID, displayName: "Notes", groups: [.allMicrosoftApps]),
                    isNew: true, as: owner)
            } else {
                _ = try await make("Set", apps: [], to: [target(TestService.group)], set: set)
            }
            for id in [owner.id, "oid-second"] {
                var approver = owner
                approver.id = id
                _ = try await admin.approvals.changes(as: approver)
            }
            let device = device
            try await test.test { client in _ = try await client.register(device) }
        }

        /// The claims of an owner.
        ///
        /// - Parameter age: How long ago they signed in, in seconds.
        func claims(age: Int64 = 0) -> [String: JSONValue] {
            var claims = TestIssuer.administrationClaims(roles: [], at: test.clock.now)
            (claims["roles"], claims["oid"]) = (["owner"], .string(TestService.owner.id))
            claims["auth_time"] = .integer(Int64(test.clock.now.timeIntervalSince1970) - age)
            return claims
        }

        /// The path and body of an attempt.
        func call(_ attempt: Attempt, _ client: TestClient) async throws -> (path: String, body: JSONValue?) {
            var path = ""
            var keys = attempt.keys[...]
            let pattern = attempt.route.split(separator: " ").last.map(String.init) ?? ""
            for (index, part) in pattern.split(separator: "/").enumerated() {
                guard part == "*" else {
                    path += "/" + part
                    continue
                }
                if index == 0 {
                    path += "/beta"
                } else if let key = keys.popFirst() {
                    path += "/" + (try await name(key, after: path, client))
                }
            }
            return (path, attempt.body)
        }

        private func name(_ key: Attempt.Key, after path: String, _ client: TestClient) async throws -> String {
            switch key {
            case .plain: return plain
            case .deadlyApart: return deadlyApart
            case .deadlyAnywhere: return deadlyAnywhere
            case .deadlyElsewhere: return deadlyElsewhere
            case .person: return TestPerson.workerA.id
            case .group: return TestService.group
            case .elsewhere: return Self.elsewhere
            case .filter: return Self.filter
            case .version: return former
            case .filterVersion: return formerFilter
            case .text(let text): return text
            case .registration:
                return try await registrations().first?.id ?? ""
            case .app, .entry:
                let list = try await client.administer(.get, path, claims: claims()).json["value"]?.array
                return list?.first?["id"]?.string ?? ""
            }
        }

        private func registrations() async throws -> [Registration] {
            try await test.service.administration.registrations(
                RegistrationFilter(userID: TestPerson.workerA.id), as: TestService.owner)
        }

        /// By what a person's app would remove data now, or why there is nothing of it left.
        func lost() async throws -> [String] {
            let (admin, owner) = (test.service.administration, TestService.owner)
            guard let user = try? await admin.user(TestPerson.workerA.id, as: owner) else { return ["no person"] }
            guard let registration = try await registrations().first, registration.state == .active else {
                return ["no registration"]
            }
            var lost: [String] = []
            if try await !admin.pendingWork(ofUser: user.id, as: owner).wipes.isEmpty { lost.append("a wipe") }
            let policies = try await admin.intendedPolicies(ofRegistration: registration.id, as: owner)
            var facts = DeviceFacts()
            facts.osVersion = VersionNumber(registration.device.osVersion)
            facts.accountDisabled = !user.accountEnabled
            let merged = EffectivePolicy.merging(try policies.map { try AppProtectionPolicy(graphJSON: $0.document) })
            if merged.map({ PolicyDiff.removesData($0.policy, of: facts) }) ?? false { lost.append("a policy") }
            return lost
        }
    }
}
