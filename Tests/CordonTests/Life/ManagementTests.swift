import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Testing

/// SRV-TG-06, SRV-CI-003: whether the device's management has given the app the account.
@Suite(.timeLimit(.minutes(10))) struct ManagementTests {
    @Test(
        arguments: [
            ([:], .unmanaged), (["IntuneMAMDeviceID": "d-1"], .unmanaged), (["IntuneMAMOID": "oid-a"], .mdm),
            (["IntuneMAMUPN": "Worker-A@Contoso.example"], .mdm), (["CordonUserName": ""], .unmanaged),
            (["IntuneMAMUPN": "worker-b@contoso.example"], .unmanaged),
        ] as [([String: JSONValue], ApplicationFacts.Management)])
    func `an app is managed where management names its account, not the device alone`(
        _ given: [String: JSONValue], _ management: ApplicationFacts.Management
    ) async throws {
        let device = try Device()
        try await device.publish([:])
        let protection = try await device.start { $0.managedConfiguration = given }
        #expect(await protection.enroll(device.account) == .newPolicies)
        await protection.checkIn(device.account.id)
        #expect(await device.service.registered.map(\.application.management) == [management])
        #expect(await device.service.checkIns.map(\.application.management) == [management])
    }
}
