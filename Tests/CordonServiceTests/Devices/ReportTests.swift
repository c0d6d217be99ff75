import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import Testing

/// SRV-CI-009…013, 016, 085, 089: what travels beside policies and wipes.
struct ReportTests {
    @Test func `a person's working time reaches their apps, and an overtaken report does not`() async throws {
        var (test, app) = try await TestApp.enrolled()
        let now = Int64(test.clock.now.timeIntervalSince1970)
        let events = try await test.service.devices.events(
            ofRegistration: app.registrationID, after: nil, by: app.caller)
        let time = WorkingTimeReport(state: .clockedIn, asOf: now, validUntil: now + 3_600)
        try await test.service.provisioning.setWorkingTime(time, ofUser: "ada@contoso.example", as: test.owner)
        #expect(await events.first { _ in true }?.kind == .policyChanged)
        try await app.checkIn()
        #expect(app.envelope?.workingTime == time.workingTime)
        #expect(app.envelope?.workingTime?.status(at: now) == .clockedIn)
        #expect(app.envelope?.workingTime?.status(at: now + 3_600) == .clockedInStale)
        let late = WorkingTimeReport(state: .clockedOut, asOf: now - 60)
        try await test.service.provisioning.setWorkingTime(late, ofUser: "oid-ada", as: test.owner)
        #expect(try await app.checkIn().response.unchanged)
        let future = WorkingTimeReport(state: .clockedOut, asOf: now + 86_400)
        #expect(
            await failure {
                try await test.service.provisioning.setWorkingTime(future, ofUser: "oid-ada", as: test.owner)
            }?.code
                == .invalid)
    }

    @Test func `what provisions people clocks nobody out, and a program for that does`() async throws {
        let (test, app) = try await TestApp.enrolled()
        let now = Int64(test.clock.now.timeIntervalSince1970)
        let time = WorkingTimeReport(state: .clockedOut, asOf: now)
        func program(_ permissions: Set<Permission>) -> Administrator {
            Administrator(
                tenant: TestOrganisation.tenant, id: "program", name: "program", roles: [.directoryAdministrator],
                isProgram: true, applicationPermissions: permissions)
        }
        let refusal = await failure {
            try await test.service.provisioning.setWorkingTime(time, ofUser: "oid-ada", as: program([]))
        }
        #expect(refusal?.code == .forbidden)
        #expect(try await test.service.administration.workingTime(ofUser: "oid-ada", as: test.owner) == nil)
        #expect(try await test.records().last?.outcome == .denied)
        try await test.service.provisioning.setWorkingTime(
            time, ofUser: "oid-ada", as: program(AdministratorRole.directoryAdministrator.permissions))
        #expect(try await test.service.administration.workingTime(ofUser: "oid-ada", as: test.owner) == time)
        _ = app
    }

    @Test func `a rooted device is not compliant until it is put right`() async throws {
        var (test, app) = try await TestApp.enrolled()
        try await app.checkIn(health: [.rootedDevice])
        #expect(app.envelope?.compliance == ComplianceReport(.notCompliant, textID: .rootedDevice))
        let id = app.registrationID
        let fixed = try await test.service.devices.compliance(
            .init(silent: true, health: []), registration: id, by: app.caller)
        #expect(fixed.status == .compliant)
        try await app.checkIn()
        #expect(app.envelope?.compliance == nil)
        try await test.service.administration.blockUser("oid-ada", as: test.owner)
        let blocked = try await test.service.devices.compliance(
            .init(silent: false, health: [.rootedDevice]), registration: id, by: app.caller)
        #expect(blocked.textID == .userBlocked)
        var thief = TestApp(test)
        thief.registrationID = id
        let stolen = thief
        #expect(
            await failure {
                _ = try await test.service.devices.compliance(
                    .init(silent: true, health: []), registration: id, by: stolen.caller)
            }?.code == .wrongKey)
    }

    @Test func `what launch conditions did and envelopes that were refused are written down once`() async throws {
        let (test, app) = try await TestApp.enrolled()
        let outcome = ConditionReport(
            check: "minimumRequiredOsVersion", threshold: "18.3", observed: "18.2", action: .block, time: 1_800_000_000)
        let refusal = RefusedEnvelope(account: app.account.id, code: "wrongSignature", time: test.clock.now)
        let request = CheckInRequest(
            appliedSequence: app.current?.sequence ?? 0, appliedVersion: nil, appliedDigest: app.current?.digest,
            application: app.application, device: app.device, health: [], refusedEnvelopes: [refusal],
            clientTime: test.clock.now, nonce: "n", outcomes: [outcome])
        for _ in 0..<2 {
            let answer = try await test.service.devices.checkIn(
                request, registration: app.registrationID, by: app.caller)
            #expect(answer.response.unchanged)
        }
        let records = try await test.records()
        #expect(records.filter { $0.action == "launch.block" }.map { $0.details["observed"] } == ["18.2"])
        let refused = records.filter { $0.action == "envelope.refused" }
        #expect(refused.count == 1 && refused.first?.details["code"] == "wrongSignature")
        let stored = try await test.service.administration.registration(app.registrationID, as: test.owner)
        #expect(stored.outcomes == [outcome])
    }

    @Test func `the version alone is as good as the digest`() async throws {
        let (test, app) = try await TestApp.enrolled()
        func ask(_ version: String?) async throws -> Bool {
            try await test.service.devices.checkIn(
                CheckInRequest(
                    appliedSequence: 1, appliedVersion: version, appliedDigest: nil, application: app.application,
                    device: app.device, health: [], clientTime: test.clock.now, nonce: "n"),
                registration: app.registrationID, by: app.caller
            ).response.unchanged
        }
        #expect(try await ask(app.envelope?.version))
        #expect(try await ask("W-something-else") == false)
        #expect(try await ask(nil) == false)
    }

    @Test func `a full report that is repeated is written down once`() async throws {
        let (test, app) = try await TestApp.enrolled()
        let outcomes = (0..<64).map { number in
            ConditionReport(check: "check-\(number)", threshold: nil, observed: nil, action: .warn, time: 1)
        }
        for _ in 0..<2 {
            _ = try await test.service.devices.checkIn(
                CheckInRequest(
                    appliedSequence: 0, appliedVersion: nil, appliedDigest: nil, application: app.application,
                    device: app.device, health: [], clientTime: test.clock.now, nonce: "n", outcomes: outcomes),
                registration: app.registrationID, by: app.caller)
        }
        #expect(try await test.records().count { $0.action == "launch.warn" } == 64)
    }

    @Test func `settings reach every app, and the usual ones are not sent`() async throws {
        var (test, app) = try await TestApp.enrolled()
        #expect(app.envelope?.service == nil)
        var settings = ServiceSettings.usual
        settings.telemetry = .off
        settings.minimumSDKVersion = "2.0"
        try await test.service.administration.setServiceSettings(settings, as: test.owner)
        try await app.checkIn()
        #expect(app.envelope?.service == settings)
        #expect(try await app.checkIn().response.unchanged)
        settings.backOffSeconds = []
        let bad = settings
        #expect(
            await failure { try await test.service.administration.setServiceSettings(bad, as: test.owner) }?.code
                == .invalid)
    }

    @Test func `what an app says when it unregisters is in the audit log`() async throws {
        let (test, app) = try await TestApp.enrolled()
        try await test.service.devices.unregister(
            app.registrationID, report: UnenrollmentReport(reason: .signedOut, doWipe: true, succeeded: true),
            by: app.caller)
        let record = try await test.records().last
        #expect(record?.action == "registration.unregister")
        #expect(record?.details == ["reason": "signedOut", "doWipe": "true", "succeeded": "true"])
    }
}
