import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import Testing

@testable import CordonServiceHTTP

/// A tool that keeps policies in a repository, unmodified, against two services.
@Suite(.tags(.foreignPrograms), .serialized, .timeLimit(.minutes(10))) struct IntuneCDTests {
    /// Enough for a second page.
    private static let count = 103

    @Test(.enabled(if: PythonClient.has("IntuneCD", "cryptography"), "needs IntuneCD"))
    func `IntuneCD restores its backup of one service into another, and backs up the same again`() async throws {
        let cloud = URL(string: "https://graph.microsoft.com")
        try await LiveService(publicURL: cloud).serving { filled, base in
            try await Self.fill(filled.service)
            try await LiveService(publicURL: cloud).serving { empty, emptyBase in
                try await empty.service.provisioning.removeGroup(TestService.group, as: TestService.owner)
                // Both trust one provider: the token is good for either.
                empty.issuer.publish([TestIssuer.json(filled.issuer.key.publicKey)])
                var environment = try filled.client(at: base)
                environment["CORDON_EMPTY"] = emptyBase
                environment["CORDON_POLICIES"] = String(Self.count)
                let (status, output) = try await PythonClient.run("intunecd.py", environment)
                #expect(status == 0, "\(output.suffix(4_000))")
                #expect(output.hasSuffix("every expectation held\n"))
                let restored = try await empty.service.administration.policies(
                    of: [.iosManagedAppProtection], as: TestService.owner)
                let wiping = restored.filter { $0.document["minimumWipeOsVersion"] == "14.0" && $0.isAssigned }
                let names = Set(wiping.map { $0.document["displayName"]?.string ?? "" })
                let missing = (0..<Self.count).filter { $0 % 3 == 0 }.map { "Policy \($0)" }.filter {
                    !names.contains($0)
                }
                // What wipes is restored as it was, with whom it reaches; the client's last act is to remove the first policy.
                #expect(missing == ["Policy 0"])
            }
        }
    }

    private static func fill(_ service: ManagementService) async throws {
        let kinds: [PolicyKind] = [
            .iosManagedAppProtection, .targetedManagedAppConfiguration, .androidManagedAppProtection,
        ]
        for number in 0..<count {
            let kind = kinds[number % kinds.count]
            var document: [String: JSONValue] = [
                "displayName": .string("Policy \(number)"), "description": "Größe \"mit\" Zitat",
                "x-newer": ["kept": true],
            ]
            if kind == .targetedManagedAppConfiguration {
                document["customSettings"] = [["name": "k", "value": "{{userid}}"]]
            } else {
                document["periodOfflineBeforeWipeIsEnforced"] = "90 days, 0:00:00"
                document["appGroupType"] = "allApps"
                if kind == .iosManagedAppProtection {
                    document["minimumWipeOsVersion"] = "14.0"
                    document["appActionIfUnableToAuthenticateUser"] = "wipe"
                }
            }
            let policy = try await service.administration.createPolicy(
                kind, document: .object(document), as: TestService.owner)
            let target: PolicyAssignment.Target =
                number % 2 == 0 ? .group(TestService.group) : .allLicensedUsers
            _ = try await service.administration.assignPolicy(
                policy.id, to: [PolicyAssignment(target)], as: TestService.owner)
        }
    }
}
