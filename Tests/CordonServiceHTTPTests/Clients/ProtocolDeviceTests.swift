import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import Testing

@testable import CordonServiceHTTP

/// A device that was written from `docs/device-protocol.md` alone.
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct ProtocolDeviceTests {
    @Test(.enabled(if: PythonClient.has("cryptography"), "needs cryptography"), arguments: [true, false])
    func `a device in Python enrols, checks in, verifies, wipes and returns a receipt`(_ bindsTokens: Bool) async throws
    {
        let folder = try TemporaryFolder.make()
        defer { try? FileManager.default.removeItem(at: folder) }
        var profile = IssuerProfile()
        profile.checkInProof = bindsTokens ? .token : .registration
        try await LiveService(profile: profile).serving { service, base in
            _ = try await service.publishPolicy()
            var environment = try service.client(at: base)
            environment["CORDON_KEY"] = folder.appending(path: "key.pem").path
            environment["CORDON_PIN"] = try await service.service.devices.discoveryFacts(of: TestService.tenant)
                .rootKeyThumbprint
            environment["CORDON_STEP"] = "make"
            let made = try await PythonClient.run("protocol_device.py", environment)
            let thumbprint = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
            try #require(made.status == 0, "\(made.output.suffix(4_000))")
            var claims = TestIssuer.checkInClaims(.workerA, key: SoftwareSigningKey().publicKey, at: Date())
            claims["cnf"] = bindsTokens ? ["jkt": .string(thumbprint)] : nil
            environment["CORDON_DEVICE_TOKEN"] = try service.issuer.token(claims)
            environment["CORDON_STEP"] = "use"
            let used = try await PythonClient.run("protocol_device.py", environment)
            #expect(used.status == 0, "\(used.output.suffix(4_000))")
            #expect(used.output.hasSuffix("every expectation held\n"))
            // The service's own word on it.
            let wipes = try await service.service.administration.operations(
                ofRegistration: nil, as: TestService.owner)
            #expect(wipes.map(\.state) == [.succeeded])
            #expect(wipes.first?.receipt.map { used.output.contains($0) } == true)
        }
    }
}
