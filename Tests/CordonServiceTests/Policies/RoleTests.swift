import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Testing

/// SRV-OP-020, SRV-CI-092, SRV-CI-093: roles, denied calls and tenants.
struct RoleTests {
    @Test(arguments: [
        (AdministratorRole.reader, [Permission.read]),
        (.helpDesk, [.read, .wipe, .collectLogs, .commandApps]),
        (.policyAdministrator, [.read, .writePolicies, .deletePolicies, .assignPolicies, .cancelWipes]),
        (
            .deviceAdministrator,
            [
                .read, .wipe, .cancelWipes, .blockUsers, .forgetRegistrations, .collectLogs, .commandApps,
                .registerDevices,
            ]
        ),
        (.cloudDeviceAdministrator, [.read, .registerDevices]),
        (.directoryAdministrator, [.read, .writeDirectory]),
        (.owner, Permission.allCases),
    ])
    func `a role allows exactly what its calls need`(role: AdministratorRole, allowed: [Permission]) async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        let (service, admin) = (test.service, test.administrator(role))
        let calls: [(Permission, () async throws -> Void)] = [
            (.read, { _ = try await service.administration.policies(of: [], as: admin) }),
            (.read, { _ = try await service.administration.registrations(.init(), as: admin) }),
            (
                .writePolicies,
                { _ = try await service.administration.updatePolicy("T_x", changes: [:], ifVersion: nil, as: admin) }
            ),
            (.deletePolicies, { try await service.administration.deletePolicy("T_x", ifVersion: nil, as: admin) }),
            (.assignPolicies, { _ = try await service.administration.assignPolicy("T_x", to: [], as: admin) }),
            (.wipe, { _ = try await service.administration.requestWipe(ofUser: "nobody", deviceTag: "", as: admin) }),
            (.cancelWipes, { _ = try await service.administration.cancelOperation("none", as: admin) }),
            (.blockUsers, { try await service.administration.blockUser("nobody", as: admin) }),
            (.forgetRegistrations, { try await service.administration.forgetRegistration("none", as: admin) }),
            (.writeDirectory, { try await service.provisioning.removeUser("nobody", as: admin) }),
            (.registerDevices, { try await service.administration.releaseDevice("none", as: admin) }),
            (.collectLogs, { _ = try await service.administration.requestLogs(ofRegistration: "none", as: admin) }),
            (
                .commandApps,
                { _ = try await service.administration.requestCommand(.resetPIN, ofRegistration: "none", as: admin) }
            ),
            (
                .handlePersonalData,
                { _ = try await service.administration.personalData.exportUser("nobody", as: admin) }
            ),
            (.approve, { _ = try await service.administration.approvals.release("none", as: admin) }),
            (.readAudit, { _ = try await service.administration.auditRecords(AuditQuery(), as: admin) }),
            (.manageTenant, { try await service.administration.setAllowedAccounts(nil, as: admin) }),
        ]
        #expect(Set(calls.map(\.0)) == Set(Permission.allCases))
        for (permission, call) in calls {
            let isForbidden = await failure(call)?.code == .forbidden
            #expect(isForbidden == !allowed.contains(permission), "\(permission)")
        }
        let denied = try await test.records().filter { $0.outcome == .denied }
        #expect(denied.count == calls.count { !allowed.contains($0.0) })
        #expect(try await service.administration.policy(policy.id, as: test.owner) == policy)
    }

    @Test func `another organisation's ids do not exist`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .allLicensedUsers)
        var app = TestApp(test)
        try await app.register()
        let stranger = test.administrator(.owner, tenant: TenantID("fabrikam.example"))
        #expect(
            await failure { _ = try await test.service.administration.policy(policy.id, as: stranger) }?.code
                == .notFound)
        #expect(
            await failure { _ = try await test.service.administration.registration(app.registrationID, as: stranger) }?
                .code
                == .notFound)
        #expect(try await test.service.administration.users(as: stranger).isEmpty)
        app.account = ManagedAccount(
            id: app.account.id, tenant: stranger.tenant, userPrincipalName: app.account.userPrincipalName)
        let error = await failure { try await app.checkIn() }
        #expect(error == .enrollment(.registrationGone, ""))
    }

    @Test func `refusals beyond the limit are counted, not written`() async throws {
        let test = try await TestOrganisation.withPeople()
        var reader = test.administrator(.reader)
        let before = try await test.records().count
        for number in 0..<130 {
            reader.id = "reader-\(number % 5)"
            _ = await failure { [reader] in
                try await test.service.administration.blockUser("oid-ada", as: reader)
            }
        }
        #expect(try await test.records().count == before + 120)
        test.clock.advance(by: 60)
        _ = await failure { [reader] in try await test.service.administration.blockUser("oid-ada", as: reader) }
        #expect(try await test.records().last?.details["leftOut"] == "10")
    }

    @Test func `who is refused again and again does not keep another's refusal out of the log`() async throws {
        let test = try await TestOrganisation.withPeople()
        let loud = test.administrator(.reader)
        for _ in 0..<200 {
            _ = await failure { try await test.service.administration.blockUser("oid-ada", as: loud) }
        }
        let other = test.administrator(.policyAdministrator)
        _ = await failure { try await test.service.administration.blockUser("oid-ben", as: other) }
        let refused = try await test.records().filter { $0.action == "call.refused" }
        #expect(refused.count == 31)
        #expect(refused.last?.actor.id == other.id && refused.last?.details["leftOut"] == "170")
    }
}
