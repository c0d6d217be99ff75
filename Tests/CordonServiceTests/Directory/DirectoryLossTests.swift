import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Testing

@testable import CordonService

/// By which rules an app counts whose person is disabled, where every loss takes a second person.
struct DirectoryLossTests {
    private let wipe: [String: JSONValue] = ["appActionIfUnableToAuthenticateUser": "wipe"]
    private let block: [String: JSONValue] = ["appActionIfUnableToAuthenticateUser": "block"]

    private func organisation() async throws -> TestOrganisation {
        var configuration = ServiceConfiguration()
        configuration.wipeBudget = 0
        return try await TestOrganisation.withPeople(configuration: configuration)
    }

    private func disableAda(in test: TestOrganisation) async -> ServiceError? {
        let ada = DirectoryUser(
            id: "oid-ada", userPrincipalName: "ada@contoso.example", displayName: "Ada", accountEnabled: false)
        return await failure { try await test.service.provisioning.saveUser(ada, as: test.owner) }
    }

    @Test func `an app counts by rules of which nobody knows any more what they said`() async throws {
        let test = try await organisation()
        let policy = try await test.protect(block, to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        _ = try await test.service.administration.updatePolicy(
            policy.id, changes: ["displayName": "Later"], ifVersion: nil, as: test.owner)
        try await test.storage.write(TestOrganisation.tenant) { records in
            for version in try records.records(EntityVersion.self) {
                try records.remove(EntityVersion.self, version.storageID)
            }
        }
        #expect(await disableAda(in: test)?.code == .waiting)
    }

    @Test func `what apps hold is read once for all people who hold the same`() async throws {
        let storage = CountingStorage()
        let test = try await TestOrganisation.withPeople(storage: storage)
        func content(_ numbers: Range<Int>) -> DirectoryContent {
            let people = numbers.map { number in
                DirectoryUser(
                    id: "oid-\(number)", userPrincipalName: "\(number)@contoso.example", displayName: "\(number)")
            }
            let crew = DirectoryGroup(id: "crew", displayName: "Crew", members: Set(people.map { .user($0.id) }))
            return DirectoryContent(people: people, groups: [crew])
        }
        let provisioning = test.service.provisioning
        _ = try await provisioning.synchronize(content(0..<6), from: "file", of: TestOrganisation.tenant)
        let policy = try await test.protect(block, to: .group("crew"))
        for number in 0..<6 {
            var app = TestApp(test, user: String(number), tag: "tag-\(number)")
            try await app.register()
        }
        _ = try await test.service.administration.updatePolicy(
            policy.id, changes: ["displayName": "Later"], ifVersion: nil, as: test.owner)
        try await test.finishAnnouncing()
        let reads = try await storage.reads {
            _ = try await provisioning.synchronize(content(2..<6), from: "file", of: TestOrganisation.tenant)
        }
        #expect(reads[.version]?.one == 1)
    }

    @Test func `an app does not count by a configuration that was deleted since`() async throws {
        let test = try await organisation()
        try await test.protect(block, to: .group("staff"))
        let configuration = try await test.service.administration.createPolicy(
            .targetedManagedAppConfiguration,
            document: [
                "displayName": "C", "appGroupType": "allApps",
                "assignments": [["target": ["@odata.type": "#microsoft.graph.allLicensedUsersAssignmentTarget"]]],
            ], as: test.owner)
        var app = TestApp(test)
        try await app.register()
        try await test.service.administration.deletePolicy(configuration.id, ifVersion: nil, as: test.owner)
        #expect(await disableAda(in: test) == nil)
    }

    @Test func `an app counts by rules whose envelope was withdrawn before it had said that it has them`() async throws
    {
        let test = try await organisation()
        let policy = try await test.protect(wipe, to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        let id = app.registrationID
        try await test.storage.write(TestOrganisation.tenant) { records in
            var registration = try records.knownRegistration(id)
            registration.lastEnvelope?.isWithdrawn = true
            try records.save(registration)
        }
        _ = try await test.service.administration.updatePolicy(
            policy.id, changes: .object(block), ifVersion: nil, as: test.owner)
        // It is given the softer rules, and has not said yet that it has them.
        try await app.checkIn()
        #expect(await disableAda(in: test)?.code == .waiting)
    }
}
