import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import CordonServiceHTTP

/// The list of wipes is read by index, a page at a time.
@Suite struct WipeListTests {
    private static let path = "/admin/v1/wipes"

    private func ids(_ answer: TestResponse) -> [String] {
        (answer.json.array ?? []).compactMap { $0["id"]?.string }
    }

    @Test(.seeded) func `wipes are listed newest first, a page reads its own, and the next begins after it`()
        async throws
    {
        let storage = CountingStorage()
        let service = try await TestService(storage: storage)
        let people = [TestPerson.workerA.id, TestPerson.workerB.id]
        // Eight in one second, written in another order than they were asked for.
        let wipes = (0..<507).map { number in
            WipeOperation(
                id: "w\(number * 10 % 507)", registrationID: "r", account: AccountID(people[number % 2].uppercased()),
                bundleID: "org.example.notes", reason: .device, requestedBy: "owner",
                requested: Date(timeIntervalSince1970: 1_000_000 + Double(max(0, number - 7))),
                notAfter: Date(timeIntervalSince1970: 2_000_000), version: "v", state: .succeeded)
        }
        var random = SeededGenerator()
        let shuffled = wipes.shuffled(using: &random)
        try await storage.write(TestService.tenant) { transaction in
            for wipe in shuffled { try transaction.save(wipe) }
        }
        let expected = wipes.sorted { ($1.requested, $0.id) < ($0.requested, $1.id) }
        try await service.test { client in
            var pages: [[String]] = []
            let reads = try await storage.reads {
                pages.append(ids(try await client.administer(.get, Self.path)))
                pages.append(ids(try await client.administer(.get, Self.path + "?after=\(pages[0].last ?? "")")))
            }
            #expect(pages.map(\.count) == [500, 7])
            #expect(pages.flatMap(\.self) == expected.map(\.id))
            #expect(reads[.operation]?.all ?? 0 == 0 && reads[.operation]?.paged == 508)
            let own = try await storage.reads {
                let first = ids(try await client.administer(.get, Self.path + "?user=\(people[1])"))
                #expect(first == expected.filter { $0.account.rawValue == people[1].uppercased() }.map(\.id))
                let rest = try await client.administer(.get, Self.path + "?user=\(people[1])&after=\(first[249])")
                #expect(ids(rest) == Array(first.dropFirst(250)))
            }
            #expect(own[.operation] == .init(one: 1, some: 2))
            #expect(try await client.administer(.get, Self.path + "?after=none").status == .notFound)
        }
    }

    @Test func `wipes in a state are looked for among the next 500, and the header says where to go on`() async throws {
        let storage = CountingStorage()
        let service = try await TestService(storage: storage)
        let wipes = (0..<1_100).map { number in
            WipeOperation(
                id: "w\(number)", registrationID: "r", account: AccountID(TestPerson.workerA.id),
                bundleID: "org.example.notes", reason: .device, requestedBy: "owner",
                requested: Date(timeIntervalSince1970: 2_000_000 - Double(number)),
                notAfter: Date(timeIntervalSince1970: 3_000_000), version: "v",
                state: [3, 700, 1_050].contains(number) ? .expired : number == 4 ? .delivered : .succeeded)
        }
        try await storage.write(TestService.tenant) { transaction in
            for wipe in wipes { try transaction.save(wipe) }
        }
        try await service.test { client in
            func pages(_ query: String) async throws -> [[String]] {
                var (pages, next): ([[String]], String?) = ([], Self.path + "?" + query)
                while let path = next {
                    let answer = try await client.administer(.get, path)
                    pages.append(ids(answer))
                    let link = answer.headers[.link]
                    #expect(link?.hasSuffix(">; rel=\"next\"") ?? true)
                    next = link.map { String($0.dropFirst().prefix { $0 != ">" }) }
                }
                return pages
            }
            let failed = try await pages("state=failed&top=50")
            #expect(failed == [["w3"], ["w700"], ["w1050"]])
            let own = try await pages("state=failed&user=\(TestPerson.workerA.id)&top=2")
            #expect(own == failed)
            let open = try await pages("state=open")
            #expect(open == [["w4"], [], []])
            let succeeded = try await pages("state=succeeded&top=400")
            #expect(succeeded.joined().count == 1_096)
            let all = try await pages("")
            #expect(all.map(\.count) == [500, 500, 100])
            let one = try await client.administer(.get, Self.path + "/w700").json
            #expect(one["id"] == "w700" && one["state"] == "expired" && one["deviceTag"] == nil)
            #expect(try await client.administer(.get, Self.path + "/none").status == .notFound)
            let nobodys = try await pages("state=cancelled&user=nobody")
            #expect(nobodys == [[]])
            #expect(try await client.administer(.get, Self.path + "?state=any").status == .badRequest)
        }
    }

    @Test func `a wipe that a version before took under any id of a device's own is shown`() async throws {
        let service = try await TestService()
        let id = "a/b c\u{202E}"
        let wipe = WipeOperation(
            id: id, registrationID: "r", account: AccountID(TestPerson.workerA.id), bundleID: "org.example.notes",
            reason: .conditional, requestedBy: "r", requested: service.clock.now, notAfter: service.clock.now,
            version: "v", state: .failed)
        try await service.storage.write(TestService.tenant) { try $0.save(wipe) }
        try await service.test { client in
            let one = try await client.administer(.get, Self.path + "/a%2Fb%20c%E2%80%AE")
            #expect(one.status == .ok && one.json["id"]?.string == id)
        }
    }
}
