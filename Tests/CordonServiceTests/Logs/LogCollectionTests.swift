import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import Testing

/// SRV-CI-015, 024: logs on request.
struct LogCollectionTests {
    private func asked(
        storage: any ServiceStorage = InMemoryStorage()
    ) async throws -> (TestOrganisation, TestApp, LogCollection) {
        let test = try await TestOrganisation.withPeople(storage: storage)
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        let collection = try await test.service.administration.requestLogs(
            ofRegistration: app.registrationID, as: test.owner)
        try await app.checkIn()
        return (test, app, collection)
    }

    private func send(
        _ bytes: Data, at offset: Int, of total: Int, _ test: TestOrganisation, _ app: TestApp, _ request: String
    ) async throws -> Int {
        try await test.service.devices.receiveLogs(
            bytes, at: offset, of: total, request: request, registration: app.registrationID, by: app.caller)
    }

    @Test func `an app is asked, sends in pieces, goes on where it broke off, and is asked no more`() async throws {
        var (test, app, collection) = try await asked()
        #expect(app.envelope?.logRequests?.map(\.id) == [collection.id])
        let id = collection.id
        #expect(try await send(Data("hello ".utf8), at: 0, of: 11, test, app, id) == 6)
        #expect(await failure { _ = try await test.service.administration.logs(id, as: test.owner) }?.code == .conflict)
        #expect(try await send(Data("hello ".utf8), at: 0, of: 11, test, app, id) == 6)
        #expect(try await send(Data(), at: 0, of: 11, test, app, id) == 6)
        let ahead = app
        #expect(
            await failure { _ = try await send(Data("d".utf8), at: 10, of: 11, test, ahead, id) }?.code == .conflict)
        #expect(try await send(Data("world".utf8), at: 6, of: 11, test, app, id) == 11)
        #expect(try await test.service.administration.logs(id, as: test.owner) == Data("hello world".utf8))
        try await app.checkIn()
        #expect(app.envelope?.logRequests == nil)
        let actions = try await test.records().map(\.action).filter { $0.hasPrefix("logs.") }
        #expect(actions == ["logs.request", "logs.received", "logs.read"])
    }

    @Test func `asking twice is asking once`() async throws {
        let (test, app, collection) = try await asked()
        let again = try await test.service.administration.requestLogs(
            ofRegistration: app.registrationID, as: test.owner)
        #expect(again.id == collection.id)
        #expect(try await test.service.administration.logCollections(as: test.owner).page.count == 1)
    }

    @Test func `no app sends what was not asked of it, too much, too little at once, or too late`() async throws {
        let (test, app, collection) = try await asked()
        var other = TestApp(test, user: "ben", tag: "tag-2")
        try await other.register()
        let ben = other
        let id = collection.id
        #expect(await failure { _ = try await send(Data("x".utf8), at: 0, of: 1, test, ben, id) }?.code == .notFound)
        #expect(
            await failure {
                _ = try await send(Data("x".utf8), at: 0, of: LogRequest.largestUpload + 1, test, app, id)
            }?.code == .invalid)
        #expect(
            await failure {
                _ = try await send(Data(count: LogRequest.largestPiece + 1), at: 0, of: 1 << 20, test, app, id)
            }?.code == .invalid)
        #expect(
            await failure { _ = try await send(Data(count: 1_023), at: 0, of: 1 << 20, test, app, id) }?.code
                == .invalid,
            "a piece so small that there would be more than 1,024")
        #expect(try await send(Data(), at: 0, of: 1 << 20, test, app, id) == 0, "one that only asks")
        #expect(try await send(Data("x".utf8), at: 0, of: 2, test, app, id) == 1)
        test.clock.advance(by: 14 * 86_400)
        #expect(await failure { _ = try await send(Data("y".utf8), at: 1, of: 2, test, app, id) }?.code == .notFound)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        #expect(try await test.service.administration.logCollections(as: test.owner).page.isEmpty)
    }

    @Test func `what was sent is put away without being read`() async throws {
        let storage = CountingStorage()
        let (test, app, collection) = try await asked(storage: storage)
        for offset in 0..<3 { _ = try await send(Data("x".utf8), at: offset, of: 3, test, app, collection.id) }
        let read = try await storage.counts {
            _ = try await test.service.administration.logs(collection.id, as: test.owner)
        }
        #expect(read.read[.logPiece] == 3, "the control")
        test.clock.advance(by: 14 * 86_400)
        let due = try await storage.counts {
            try await test.service.performMaintenance(of: TestOrganisation.tenant)
        }
        #expect(due.read[.logPiece] ?? 0 == 0 && due.written[.logPiece] == 3)
        #expect(try await test.service.administration.logCollections(as: test.owner).page.isEmpty)
    }
}
