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

/// A service with one of everything, and for every route a request that it accepts.
struct RouteFixture {
    let test: TestService
    private let policies: [PolicyKind: ManagedAppPolicy]
    let registration: String
    private let operation: String
    private let filter: String
    private let tag: String
    private let job: String

    var routes: [GraphRoute] { test.graph.table.routes }

    init() async throws {
        test = try await TestService()
        let (service, owner) = (test.service, TestService.owner)
        try await service.provisioning.saveUser(
            DirectoryUser(id: owner.id, userPrincipalName: owner.name, displayName: "Ada"), as: owner)
        var policies: [PolicyKind: ManagedAppPolicy] = [:]
        for kind in PolicyKind.allCases {
            var policy = try await service.administration.createPolicy(kind, document: ["displayName": "P"], as: owner)
            let app = MobileAppIdentifier(kind == .androidManagedAppProtection ? .android : .ios, TestDevice.bundleID)
            policy = try await service.administration.targetApps([app], group: nil, ofPolicy: policy.id, as: owner)
            if kind.isAssignable {
                policy = try await service.administration.assignPolicy(
                    policy.id, to: [PolicyAssignment(.allLicensedUsers, id: "assignment")], as: owner)
            }
            policies[kind] = policy
        }
        self.policies = policies
        registration = try await test.test { try await $0.register(TestDevice()).registrationID }
        operation = try await service.administration.requestWipe(ofUser: "oid-a", deviceTag: "tag-1", as: owner)[0].id
        let time = test.clock.now
        filter = "filter-1"
        try await service.administration.saveResource(
            AssignmentFilter(
                id: filter, displayName: "F", rule: "(app.osVersion -ge \"17\")", created: time, modified: time),
            isNew: true, as: owner)
        tag = "tag-a"
        try await service.administration.saveResource(ScopeTag(id: tag, displayName: "T"), isNew: true, as: owner)
        try await service.administration.saveResource(
            CatalogueApp(bundleID: TestDevice.bundleID, displayName: "Notes"), isNew: true, as: owner)
        job = "job-1"
        try await service.administration.saveResource(
            ExportJob(
                id: job, reportName: "MAMAppProtectionStatus", format: "csv", columns: [], requested: time),
            isNew: true, as: owner)
    }

    /// Calls a route as a person with one role or none; the status.
    func call(
        _ route: GraphRoute, as role: AdministratorRole?, scopes: String? = nil,
        tenant: String = TestService.tenant.rawValue
    ) async throws -> Int {
        Int(try await answer(route, as: role, scopes: scopes, tenant: tenant).status.code)
    }

    /// Calls a route as a person with one role or none.
    func answer(
        _ route: GraphRoute, as role: AdministratorRole?, scopes: String? = nil,
        tenant: String = TestService.tenant.rawValue, sending sent: JSONValue? = nil
    ) async throws -> TestResponse {
        let all = "DeviceManagementApps.ReadWrite.All Group.ReadWrite.All"
        let claims = TestIssuer.administrationClaims(
            roles: role.map { [$0.rawValue] } ?? [], scopes: scopes ?? all, at: test.clock.now, tenant: tenant)
        let (path, body) = ("/beta/" + path(of: route), sent ?? body(of: route))
        return try await test.test { client in
            try await client.administer(route.method, path, body, claims: claims)
        }
    }

    /// The policy that a route is about.
    private func policy(_ route: GraphRoute) -> ManagedAppPolicy? {
        let kind = PolicyKind.allCases.first { route.pattern.dropFirst().first == $0.collection }
        return policies[kind ?? .iosManagedAppProtection]
    }

    func path(of route: GraphRoute) -> String {
        var parts = route.pattern
        for (index, part) in parts.enumerated() where part == "*" {
            parts[index] =
                switch parts[index - 1] {
                case "users": "oid-a"
                case "groups": TestService.group
                case "managedAppRegistrations": registration
                case "operations": operation
                case "apps": policy(route)?.apps.first?.entityID ?? "none"
                case "assignments": "assignment"
                case "appliedPolicies", "intendedPolicies": policies[.iosManagedAppProtection]?.id ?? ""
                case "managedAppStatuses": "userstatus"
                case "roleScopeTags": tag
                case "assignmentFilters": filter
                case "mobileApps": TestDevice.bundleID
                case "auditEvents": "1"
                case "exportJobs": job
                default: policy(route)?.id ?? "none"
                }
        }
        return parts.joined(separator: "/") + (route.name.contains("managedAppStatuses/*") ? "?userId=oid-a" : "")
    }

    func body(of route: GraphRoute) -> JSONValue? {
        guard [.post, .patch].contains(route.method) else { return nil }
        let bundle = route.name.contains("android") ? "packageId" : "bundleId"
        let type = route.name.contains("android") ? "androidMobileAppIdentifier" : "iosMobileAppIdentifier"
        let app: JSONValue = [
            "mobileAppIdentifier": [
                "@odata.type": .string("#microsoft.graph.\(type)"), bundle: "org.example.second",
            ]
        ]
        let assignment: JSONValue = [
            "target": [
                "@odata.type": "#microsoft.graph.groupAssignmentTarget", "groupId": .string(TestService.group),
            ]
        ]
        switch route.pattern.last {
        case "assign": return ["assignments": [assignment]]
        case "targetApps": return ["apps": [app]]
        case "hasPayloadLinks": return ["payloadIds": []]
        case "exportJobs": return ["reportName": "MAMAppProtectionStatus"]
        case "managedAppPolicies":
            return ["@odata.type": "#microsoft.graph.iosManagedAppProtection", "displayName": "New"]
        case "mobileApps": return ["displayName": "New", "bundleId": "org.example.new"]
        case "assignmentFilters": return ["displayName": "New", "rule": "(app.deviceModel -eq \"x\")"]
        default: break
        }
        if route.name.contains("/apps") { return app }
        if route.name.contains("policies/*/assignments") || route.name.hasSuffix("assignments/*")
            || route.name.hasSuffix("/assignments")
        {
            return assignment
        }
        return [
            "displayName": "New", "deviceTag": "tag-1", "azureAdDeviceId": "x",
            "managedAppRegistrationId": .string(registration),
        ]
    }
}
