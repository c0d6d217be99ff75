import CordonPolicy
import CordonService
import CordonTestSupport
import Foundation
import Testing

@testable import CordonGraph
@testable import CordonServiceHTTP

/// Scripts that administrators own already, against the service on a socket.
@Suite(.tags(.foreignPrograms), .serialized, .timeLimit(.minutes(10))) struct GraphClientTests {
    @Test(.enabled(if: PythonClient.has("msgraph", "msgraph_beta"), "needs msgraph-sdk and msgraph-beta-sdk"))
    func `Microsoft's own Graph packages create, read, page, filter, assign, wipe and delete`() async throws {
        try await LiveService().serving { service, base in
            _ = try await service.publishPolicy()
            _ = try await LiveApp(base: base, issuer: service.issuer).register()
            let (status, output) = try await PythonClient.run("graph_sdk.py", try service.client(at: base))
            #expect(status == 0, "\(output.suffix(4_000))")
            #expect(output.hasSuffix("every expectation held\n"))
        }
    }

    @Test(.enabled(if: PythonClient.has("msgraph", "msgraph_beta"), "needs msgraph-sdk and msgraph-beta-sdk"))
    func `v1_0 shows the members that its own package has, and hides those of beta`() async throws {
        // SRV-RS-010
        let (status, output) = try await PythonClient.run("graph_members.py", [:])
        #expect(status == 0, "\(output.suffix(4_000))")
        let types = try JSONValue(parsing: Data((output.split(separator: "\n").last ?? "").utf8))
        let test = try await TestService()
        for kind in PolicyKind.allCases {
            func names(_ version: String) -> Set<String> {
                Set((types[kind.rawValue]?[version]?.array ?? []).compactMap(\.string))
            }
            let (one, beta) = (names("v1"), names("beta"))
            let hidden = BetaMembers.names(of: kind)
            #expect(one.count > 10 && one.isDisjoint(with: hidden), "\(kind)")
            // What Microsoft's packages may send is never refused for being near something else.
            for name in one.union(beta) { #expect(AppProtectionPolicy.memberMeant(by: name) == nil, "\(name)") }
            // Navigation members are answered where they are asked for.
            #expect(beta.subtracting(one).subtracting(hidden).subtracting(["settings"]) == [], "\(kind)")
            let policy = try await test.service.administration.createPolicy(
                kind, document: ["displayName": "P"], as: TestService.owner)
            for (version, known) in [(GraphPath.Version.v1, one), (.beta, beta)] {
                let shown = PolicyEntity(policy: policy, version: version).json(root: "").object ?? [:]
                #expect(Set(shown.keys).subtracting(known).subtracting(["@odata.type"]) == [], "\(kind) \(version)")
            }
        }
    }
}

extension LiveService {
    /// Runs a test while the service answers, with its address.
    func serving(_ body: (LiveService, String) async throws -> Void) async throws {
        let (ready, source) = AsyncStream.makeStream(of: String.self)
        async let running: Void = server.run { source.yield($0.bound.absoluteString) }
        do {
            try await body(self, try #require(await ready.first { _ in true }))
        } catch {
            await server.shutDown()
            try await running
            throw error
        }
        await server.shutDown()
        try await running
    }

    /// What a client's script needs to know.
    func client(at base: String) throws -> [String: String] {
        var stale = TestIssuer.administrationClaims(at: Date())
        stale["auth_time"] = .integer(Int64(Date().timeIntervalSince1970) - 3_600)
        return [
            "CORDON_STALE_TOKEN": try issuer.token(stale), "CORDON_BASE": base,
            "CORDON_TOKEN": try issuer.token(TestIssuer.administrationClaims(at: Date())),
            "CORDON_USER": TestPerson.workerA.id, "CORDON_GROUP": TestService.group,
            "CORDON_BUNDLE": TestDevice.bundleID,
        ]
    }
}
