import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
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
        let test = try await TestService.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        let (service, admin) = (test.service, test.administrator(role))
        let calls: [(Permission, () async throws -> Void)] = [
            (.read, { _ = try await service.policies(of: [], as: admin) }),
            (.read, { _ = try await service.registrations(.init(), as: admin) }),
            (.writePolicies, { _ = try await service.updatePolicy("T_x", changes: [:], ifVersion: nil, as: admin) }),
            (.deletePolicies, { try await service.deletePolicy("T_x", ifVersion: nil, as: admin) }),
            (.assignPolicies, { _ = try await service.assignPolicy("T_x", to: [], as: admin) }),
            (.wipe, { _ = try await service.requestWipe(ofUser: "nobody", deviceTag: "", as: admin) }),
            (.cancelWipes, { _ = try await service.cancelOperation("none", as: admin) }),
            (.blockUsers, { try await service.blockUser("nobody", as: admin) }),
            (.forgetRegistrations, { try await service.forgetRegistration("none", as: admin) }),
            (.writeDirectory, { try await service.removeUser("nobody", as: admin) }),
            (.registerDevices, { try await service.releaseDevice("none", as: admin) }),
            (.collectLogs, { _ = try await service.requestLogs(ofRegistration: "none", as: admin) }),
            (.commandApps, { _ = try await service.requestCommand(.resetPIN, ofRegistration: "none", as: admin) }),
            (.handlePersonalData, { _ = try await service.exportUser("nobody", as: admin) }),
            (.readAudit, { _ = try await service.auditRecords(AuditQuery(), as: admin) }),
            (.manageTenant, { try await service.setAllowedAccounts(nil, as: admin) }),
        ]
        #expect(Set(calls.map(\.0)) == Set(Permission.allCases))
        for (permission, call) in calls {
            let isForbidden = await failure(call)?.code == .forbidden
            #expect(isForbidden == !allowed.contains(permission), "\(permission)")
        }
        let denied = try await test.records().filter { $0.outcome == .denied }
        #expect(denied.count == calls.count { !allowed.contains($0.0) })
        #expect(try await service.policy(policy.id, as: test.owner) == policy)
    }

    @Test func `another organisation's ids do not exist`() async throws {
        let test = try await TestService.withPeople()
        let policy = try await test.protect(to: .allLicensedUsers)
        var app = TestApp(test)
        try await app.register()
        let stranger = test.administrator(.owner, tenant: TenantID("fabrikam.example"))
        #expect(await failure { _ = try await test.service.policy(policy.id, as: stranger) }?.code == .notFound)
        #expect(
            await failure { _ = try await test.service.registration(app.registrationID, as: stranger) }?.code
                == .notFound)
        #expect(try await test.service.users(as: stranger).isEmpty)
        app.account = ManagedAccount(
            id: app.account.id, tenant: stranger.tenant, userPrincipalName: app.account.userPrincipalName)
        let error = await failure { try await app.checkIn() }
        #expect(error == .enrollment(.registrationGone, ""))
    }

    @Test func `refusals beyond the limit are counted, not written`() async throws {
        let test = try await TestService.withPeople()
        let reader = test.administrator(.reader)
        let before = try await test.records().count
        for _ in 0..<130 {
            _ = await failure { try await test.service.blockUser("oid-ada", as: reader) }
        }
        #expect(try await test.records().count == before + 120)
        test.clock.advance(seconds: 60)
        _ = await failure { try await test.service.blockUser("oid-ada", as: reader) }
        #expect(try await test.records().last?.details["leftOut"] == "10")
    }
}
