import CordonConsole
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTesting
import Foundation
import HTTPTypes
import Testing

/// Every form and every page of the console, asked for by people of every role.
@Suite struct RoleMatrixTests {
    /// What a form takes, by the path that it is sent to, with values that would do something.
    private static let forms: [String: (needs: Set<Permission>, values: [(key: String, value: String)])] = [
        "/console/approvals/:id/:step": ([.approve], []),
        "/console/configurations/:id": ([.writePolicies], [("name", "By hand")]),
        "/console/configurations/defaults/:id": ([.writePolicies], [("key.0", "by"), ("value.0", "hand")]),
        "/console/devices/:id/forget": ([.forgetRegistrations], []),
        "/console/devices/:id/logs": ([.collectLogs], []),
        "/console/people/:id/block": ([.blockUsers], []),
        "/console/people/:id/erase": ([.handlePersonalData], []),
        "/console/people/:id/unblock": ([.blockUsers], []),
        "/console/people/:id/wipe": ([.wipe], [("tag", "tag-1234"), ("number", "1234")]),
        "/console/policies/import": (
            [.writePolicies],
            [("json", ##"{"@odata.type":"#microsoft.graph.iosManagedAppProtection","displayName":"By hand"}"##)]
        ),
        "/console/policies/new": ([.writePolicies], [("name", "By hand")]),
        "/console/policies/:id/apps": ([.assignPolicies], [("apps", "com.contoso.other")]),
        "/console/policies/:id/assign": ([.assignPolicies], [("everybody", "true")]),
        "/console/policies/:id/assignments": ([.assignPolicies], [("everybody", "true")]),
        "/console/policies/:id/copy": ([.writePolicies], []),
        "/console/policies/:id/delete": ([.deletePolicies], []),
        "/console/policies/:id/delete/preview": ([.deletePolicies], []),
        "/console/policies/:id/edit/:group": ([.writePolicies], [("name", "By hand")]),
        "/console/policies/:id/history/:version": ([.writePolicies], []),
        "/console/policies/:id/history/:version/preview": ([.writePolicies], []),
        "/console/policies/:id/preview/:group": ([.writePolicies], [("name", "By hand")]),
        "/console/policies/:id/publish/:group": ([.writePolicies], [("name", "By hand")]),
        "/console/reports/:name/filters": ([.read], [("name", "By hand"), ("word", "x")]),
        "/console/reports/filters/:id/remove": ([.read], []),
        "/console/roles/:id": ([.manageTenant], [("name", "By hand"), ("permissions", "read"), ("members", "x")]),
        "/console/roles/:id/delete": ([.manageTenant], []),
        "/console/service/accounts": ([.manageTenant], [("restricted", "true"), ("add", "a b@contoso.example")]),
        "/console/service/catalogue/:id": ([.writePolicies], [("name", "By hand"), ("bundle", "com.contoso.other")]),
        "/console/service/filters/:id": (
            [.assignPolicies], [("name", "By hand"), ("rule", "(app.appVersion -eq \"1\")")]
        ),
        "/console/service/keys": ([.manageTenant], [("role", "envelope")]),
        "/console/service/tags/:id": ([.manageTenant], [("name", "By hand")]),
        "/console/wipes/:registration/:id/cancel": ([.cancelWipes], []),
    ]

    private static func person(_ role: AdministratorRole?) -> FakeProvider.Person {
        FakeProvider.Person(
            id: "oid-matrix", name: "matrix@contoso.example", roles: role.map { [$0.rawValue] } ?? [])
    }

    /// A path with something that exists in the place of each key.
    private static func filled(
        _ path: String, _ policy: String, _ version: String, _ registration: String, defaults: String,
        wipe: String = "none"
    ) -> String {
        path.replacing("/console/configurations/defaults/:id", with: "/console/configurations/defaults/\(defaults)")
            .replacing("/console/policies/:id", with: "/console/policies/\(policy)")
            .replacing(":version", with: version).replacing(":group", with: "transfer")
            .replacing(":name", with: "drift").replacing(":step", with: "release")
            .replacing("/console/people/:id", with: "/console/people/oid-worker")
            .replacing("/console/devices/:id", with: "/console/devices/\(registration)")
            .replacing("/console/wipes/:registration/:id", with: "/console/wipes/\(registration)/\(wipe)")
            .replacing("/console/service/groups/:id", with: "/console/service/groups/\(ConsoleFixture.group)")
            .replacing("/console/approvals/:id", with: "/console/approvals/none")
            .replacing("/console/roles/:id/delete", with: "/console/roles/none/delete").replacing(":id", with: "new")
    }

    /// A wipe of the worker's device; its id.
    private static func requestWipe(_ fixture: ConsoleFixture) async throws -> String {
        let administration = fixture.service.administration
        _ = try await administration.requestWipe(
            ofUser: "oid-worker", deviceTag: "tag-1234", as: ConsoleFixture.owner)
        return try #require(
            try await administration.operations(ofRegistration: nil, as: ConsoleFixture.owner).first
        ).id
    }

    /// A policy for everyone.
    private static func publishDefaults(_ fixture: ConsoleFixture) async throws -> String {
        try await fixture.service.administration.createPolicy(
            .defaultManagedAppProtection, document: ["displayName": "Everyone"], as: ConsoleFixture.owner
        ).id
    }

    @Test(arguments: [nil] + AdministratorRole.allCases.map(Optional.some))
    func `a form that a role does not allow is refused, whoever made the request, and changes nothing`(
        role: AdministratorRole?
    ) async throws {
        #expect(Set(Self.forms.keys) == (try ConsoleCrawl.routes("post")))
        let fixture = try await ConsoleFixture()
        let policy = try await fixture.publishPolicy()
        let defaults = try await Self.publishDefaults(fixture)
        try await fixture.test { browser in
            let registration = try await browser.enrol("tag-1234").registrationID
            let version = try await fixture.service.administration.policy(policy, as: ConsoleFixture.owner).version
            let wipe = try await Self.requestWipe(fixture)
            try await browser.signIn(Self.person(role))
            let token = try await browser.csrf()
            var refused = 0
            for (path, form) in Self.forms.sorted(by: { $0.key < $1.key })
            where !form.needs.isSubset(of: role?.permissions ?? []) {
                let answer = try await browser.post(
                    Self.filled(path, policy, version, registration, defaults: defaults, wipe: wipe),
                    form.values + [("version", version)],
                    csrf: token)
                #expect(answer.status == .forbidden, "\(path): \(answer.status)")
                refused += 1
            }
            #expect((refused == 0) == (role == .owner))
            let records = try await fixture.service.administration.auditRecords(
                AuditQuery(after: 0, limit: AuditQuery.largestPage), as: ConsoleFixture.owner)
            let done = records.filter { $0.actor.id == "oid-matrix" && $0.outcome == .done }
            #expect(done.isEmpty, "\(done.map(\.action))")
            // The same requests of a person who may are not refused for their role.
            for (path, form) in Self.forms.sorted(by: { $0.key < $1.key }) where role == .owner {
                let answer = try await browser.post(
                    Self.filled(path, policy, version, registration, defaults: defaults, wipe: wipe),
                    form.values + [("version", version)],
                    csrf: token)
                #expect(answer.status != .forbidden, "\(path): \(answer.text.suffix(600))")
            }
        }
    }

    @Test(arguments: [nil] + AdministratorRole.allCases.map(Optional.some))
    func `a page that a role may not see says so by its status, also where pages begin before they are read`(
        role: AdministratorRole?
    ) async throws {
        let fixture = try await ConsoleFixture()
        let policy = try await fixture.publishPolicy()
        let defaults = try await Self.publishDefaults(fixture)
        try await fixture.test { browser in
            let registration = try await browser.enrol("tag-1234").registrationID
            let version = try await fixture.service.administration.policy(policy, as: ConsoleFixture.owner).version
            let wipe = try await Self.requestWipe(fixture)
            try await browser.signIn(Self.person(role))
            for path in try ConsoleCrawl.routes("get").sorted() where !path.contains("approvals/") {
                let page = try await browser.get(
                    Self.filled(path, policy, version, registration, defaults: defaults, wipe: wipe))
                let isRefused = page.text.contains("<h1>You may not do this</h1>")
                #expect(isRefused == (page.status == .forbidden), "\(path): \(page.status)")
                #expect([.ok, .forbidden].contains(page.status), "\(path): \(page.status)")
                if role == .owner { #expect(!isRefused, "\(path)") }
                if role == nil { #expect(!page.text.contains("worker@contoso.example"), "\(path)") }
            }
            for path in [
                "/console/policies/none", "/console/people/none", "/console/devices/none", "/console/reports/none",
                "/console/policies/\(policy)/edit/none", "/console/policies/none/edit/transfer", "/console/none",
            ] {
                let page = try await browser.get(path)
                #expect([.notFound, .forbidden].contains(page.status), "\(path): \(page.status)")
                if role == .owner { #expect(page.status == .notFound, "\(path): \(page.status)") }
            }
        }
    }
}
