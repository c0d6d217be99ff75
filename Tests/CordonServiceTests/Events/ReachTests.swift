import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import Testing

/// Who is told when people, not policies, change.
struct ReachTests {
    private func lastEvent(_ app: TestApp) async throws -> Int64 {
        let id = app.registrationID
        try await app.test.finishAnnouncing()
        return try await app.test.storage.read(TestOrganisation.tenant) { records in
            try records.record(EventBookmark.self, id)?.lastID ?? 0
        }
    }

    @Test func `a person whose name is in a configuration is told when it changes`() async throws {
        // SRV-RS-117
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        let configuration = try await test.service.administration.createPolicy(
            .targetedManagedAppConfiguration,
            document: ["displayName": "C", "customSettings": [["name": "who", "value": "{{username}}"]]],
            as: test.owner)
        _ = try await test.service.administration.targetApps(
            [], group: .allApps, ofPolicy: configuration.id, as: test.owner)
        _ = try await test.service.administration.assignPolicy(
            configuration.id, to: [.init(.allDevices)], as: test.owner)
        var ada = TestApp(test, user: "ada")
        var ben = TestApp(test, user: "ben")
        try await ada.register()
        try await ben.register()
        try await test.service.provisioning.saveUser(
            DirectoryUser(id: "oid-ada", userPrincipalName: "ada@contoso.example", displayName: "Ada B"),
            as: test.owner)
        #expect(try await lastEvent(ada) == 1)
        #expect(try await lastEvent(ben) == 0)
        try await ada.checkIn()
        #expect(ada.envelope?.configurations.first?["who"] == "Ada B")
    }

    @Test func `saving what is there already writes nothing`() async throws {
        let test = try await TestOrganisation.withPeople()
        let before = try await test.records().count
        try await test.service.provisioning.saveUser(
            test.service.administration.user("oid-ada", as: test.owner), as: test.owner)
        try await test.service.provisioning.saveGroup(
            test.service.administration.group("staff", as: test.owner), as: test.owner)
        #expect(try await test.records().count == before)
    }

    @Test func `deleting a policy is told to whom it reached`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("writers"))
        try await test.protect(to: .group("staff"))
        var ada = TestApp(test, user: "ada")
        var ben = TestApp(test, user: "ben")
        try await ada.register()
        try await ben.register()
        try await test.service.administration.deletePolicy(policy.id, ifVersion: nil, as: test.owner)
        #expect(try await lastEvent(ada) == 1)
        #expect(try await lastEvent(ben) == 0)
    }
}
