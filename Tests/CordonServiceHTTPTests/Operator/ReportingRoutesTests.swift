import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import CordonServiceHTTP

/// SRV-TG-37…42 over HTTP.
@Suite struct ReportingRoutesTests {
    @Test func `drift, figures and flagged apps are read by those who may read`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let policy = try await service.publishPolicy()
            let device = TestDevice()
            let result = try await client.register(device)
            try await client.confirm(result, on: device, health: [.rootedDevice])
            let base = "/admin/v1/reports/"
            #expect(try await client.administer(.get, base + "drift").json == [])
            _ = try await service.service.administration.updatePolicy(
                policy.id, changes: ["printBlocked": true], ifVersion: nil, as: TestService.owner)
            try await service.service.finishAnnouncing(of: TestService.tenant)
            service.clock.advance(by: 25 * 3_600)
            let drifted = try await client.administer(.get, base + "drift").json.array?.first
            #expect(drifted?["registrationID"]?.string == result.registrationID)
            #expect(drifted?["hours"]?.integer == 25 && drifted?["isOverdue"] == true)
            let flagged = try await client.administer(.get, base + "flagged").json.array?.first
            #expect(flagged?["reasons"] == ["rootedDevice"] && flagged?["since"]?.string != nil)
            let summary = try await client.administer(.get, base + "summary").json
            #expect(summary["assignedUsers"]?["protected"] == 1 && summary["flaggedUsers"] == 1)
            #expect(summary["topProtectedApps"]?.array?.first?["bundleID"]?.string == TestDevice.bundleID)
            let nobody = TestIssuer.administrationClaims(roles: [], at: service.clock.now)
            #expect(try await client.administer(.get, base + "alerts").json == [])
            for name in ["drift", "flagged", "summary", "alerts"] {
                #expect(try await client.administer(.get, base + name, claims: nobody).status == .forbidden)
            }
        }
    }

    @Test func `the reports of apps come a page at a time, and the header says where to go on`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let policy = try await service.publishPolicy()
            var ids: Set<String> = []
            for number in 1...3 {
                let device = TestDevice(tag: "tag-\(number)")
                let result = try await client.register(device)
                try await client.confirm(result, on: device, health: [.rootedDevice])
                ids.insert(result.registrationID)
            }
            _ = try await service.service.administration.updatePolicy(
                policy.id, changes: ["printBlocked": true], ifVersion: nil, as: TestService.owner)
            try await service.service.finishAnnouncing(of: TestService.tenant)
            func pages(_ name: String) async throws -> [[String]] {
                var (pages, next): ([[String]], String?) = ([], "/admin/v1/reports/\(name)?top=2")
                while let path = next, pages.count < 5 {
                    let answer = try await client.administer(.get, path)
                    pages.append(answer.json.array?.compactMap { $0["registrationID"]?.string } ?? [])
                    next = answer.headers[.link].map { String($0.dropFirst().prefix { $0 != ">" }) }
                }
                return pages
            }
            for name in ["drift", "flagged"] {
                let read = try await pages(name)
                #expect(read.map(\.count) == [2, 1] && Set(read.joined()) == ids, "\(name)")
                let lost = try await client.administer(.get, "/admin/v1/reports/\(name)?after=none")
                #expect(lost.status == .badRequest, "\(name)")
            }
            service.clock.advance(by: 80 * 86_400)
            let expiring = try await pages("expiring")
            #expect(expiring.map(\.count) == [2, 1] && Set(expiring.joined()) == ids)
        }
    }

    @Test func `a filter of a report is saved, listed and removed, and what is none is refused`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let path = "/admin/v1/reports/filters"
            #expect(try await client.administer(.get, path).json == [])
            let made = try await client.administer(
                .post, path, ["name": "Tills", "report": "drift", "search": "till-"])
            let id = try #require(made.json["id"]?.string)
            #expect(made.status == .created)
            #expect(try await client.administer(.get, path).json.array?.map { $0["name"] } == ["Tills"])
            for body: JSONValue in [
                ["name": "Tills", "report": "none", "search": "till-"], ["name": "Tills", "report": "drift"],
                ["name": "", "report": "drift", "search": "till-"],
            ] { #expect(try await client.administer(.post, path, body).status == .badRequest) }
            let again = try await client.administer(
                .post, path, ["name": "tills", "report": "wipes", "search": "till-"])
            #expect(again.status == .conflict)
            #expect(try await client.administer(.delete, path + "/none").status == .notFound)
            #expect(try await client.administer(.delete, path + "/" + id).status == .noContent)
            #expect(try await client.administer(.get, path).json == [])
        }
    }

    @Test func `a person's status has the rules that are meant, what is under way, and every app`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let policy = try await service.publishPolicy()
            let device = TestDevice()
            let result = try await client.register(device)
            try await client.confirm(result, on: device)
            let path = "/beta/deviceAppManagement/managedAppStatuses('userstatus')?userId=\(TestPerson.workerA.id)"
            let quiet = try await client.administer(.get, path).json["content"]
            #expect(quiet?["pendingOperations"] == [])
            #expect(quiet?["targetedPolicies"]?.array?.map { $0["id"]?.string } == [policy.id])
            #expect(quiet?["lastSyncDateTime"]?.string?.hasSuffix("Z") == true)
            let app = quiet?["applicationStatuses"]?.array?.first
            #expect(app?["app"]?.string == TestDevice.bundleID && app?["checkInStatus"] == "Checked in")
            #expect(app?["appProtectionStatus"] == "Protected")
            _ = try await service.service.administration.requestCommand(
                .resetPIN, ofRegistration: result.registrationID, as: TestService.owner)
            _ = try await service.service.administration.requestWipe(
                ofUser: TestPerson.workerA.id, deviceTag: device.tag, as: TestService.owner)
            let busy = try await client.administer(.get, path).json["content"]?["pendingOperations"]?.array ?? []
            #expect(busy.map { $0["kind"] } == ["wipe", "resetPin"])
            #expect(busy.allSatisfy { $0["state"] == "pending" && $0["app"]?.string == TestDevice.bundleID })
        }
    }
}
