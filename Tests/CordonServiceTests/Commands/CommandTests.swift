import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import Testing

/// SRV-CI-006: what an administrator tells an app beside wiping, and SRV-CI-055.
struct CommandTests {
    private func state(_ command: IssuedCommand, _ test: TestOrganisation) async throws -> IssuedCommand.State? {
        try await test.service.administration.commands(as: test.owner).page.first {
            $0.id == command.id
        }?.state
    }

    @Test(arguments: IssuedCommand.kinds)
    func `a command comes in every envelope until it is reported, and is no wipe`(_ kind: Command.Kind) async throws {
        var (test, app) = try await TestApp.enrolled()
        #expect(try await app.checkIn().response.unchanged)
        let command = try await test.service.administration.requestCommand(
            kind, ofRegistration: app.registrationID, as: test.owner)
        #expect(try await state(command, test) == .pending)
        for _ in 0..<2 {
            #expect(try await app.checkIn().response.statusCode == .newPolicies)
            #expect(app.envelope?.commands.map(\.id) == [command.id])
            #expect(app.envelope?.commands.first?.kind == kind)
            #expect(app.envelope?.policy != nil)
            #expect(try await state(command, test) == .delivered)
        }
        try await app.acknowledge(.started, command.id)
        #expect(try await state(command, test) == .delivered)
        try await app.acknowledge(.succeeded, command.id)
        try await app.acknowledge(.succeeded, command.id)
        #expect(try await state(command, test) == .succeeded)
        let answer = try await app.checkIn().response
        #expect(answer.unchanged && answer.statusCode == .policiesUnchanged)
        #expect(
            try await test.records().map(\.action).filter { $0.hasPrefix("command.") } == [
                "command.request", "command.delivered", "command.succeeded",
            ])
    }

    @Test func `asking twice is asking once, and what failed may be asked again`() async throws {
        var (test, app) = try await TestApp.enrolled()
        let first = try await test.service.administration.requestCommand(
            .resetPIN, ofRegistration: app.registrationID, as: test.owner)
        let again = try await test.service.administration.requestCommand(
            .resetPIN, ofRegistration: app.registrationID, as: test.owner)
        let other = try await test.service.administration.requestCommand(
            .reRegister, ofRegistration: app.registrationID, as: test.owner)
        #expect(first == again && first.id != other.id)
        try await app.checkIn()
        try await app.acknowledge(.failed, first.id)
        #expect(try await state(first, test) == .failed)
        let third = try await test.service.administration.requestCommand(
            .resetPIN, ofRegistration: app.registrationID, as: test.owner)
        #expect(third.id != first.id)
    }

    @Test func `a command that no app reports on lapses, and a late report is believed`() async throws {
        var (test, app) = try await TestApp.enrolled()
        let command = try await test.service.administration.requestCommand(
            .refreshConfiguration, ofRegistration: app.registrationID, as: test.owner)
        try await app.checkIn()
        test.clock.advance(by: 14 * 86_400)
        try await app.checkIn()
        #expect(app.envelope?.commands == [])
        #expect(try await state(command, test) == .expired)
        #expect(try await app.checkIn().response.unchanged)
        try await app.acknowledge(.succeeded, command.id)
        #expect(try await state(command, test) == .succeeded)
        test.clock.advance(by: 4 * 86_400)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        #expect(try await state(command, test) == nil)
    }

    @Test func `what is taken back before it is delivered is never delivered`() async throws {
        var (test, app) = try await TestApp.enrolled()
        let command = try await test.service.administration.requestCommand(
            .resetPIN, ofRegistration: app.registrationID, as: test.owner)
        #expect(try await test.service.administration.cancelCommand(command.id, as: test.owner).state == .cancelled)
        #expect(try await app.checkIn().response.unchanged)
        let reporter = app
        #expect(await failure { try await reporter.acknowledge(.succeeded, command.id) }?.code == .conflict)
        let second = try await test.service.administration.requestCommand(
            .resetPIN, ofRegistration: app.registrationID, as: test.owner)
        try await app.checkIn()
        #expect(
            await failure { _ = try await test.service.administration.cancelCommand(second.id, as: test.owner) }?.code
                == .conflict)
    }

    @Test func `a wipe goes before every other command, and ends them`() async throws {
        var (test, app) = try await TestApp.enrolled()
        let command = try await test.service.administration.requestCommand(
            .reRegister, ofRegistration: app.registrationID, as: test.owner)
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        #expect(try await app.checkIn().response.statusCode == .wipeReceived)
        #expect(app.envelope?.commands.map(\.kind) == [.wipe])
        try await app.wipe()
        #expect(try await state(command, test) == .expired)
    }

    @Test func `wipes, logs and unknown kinds are not commanded so, nor is a closed or another's registration`()
        async throws
    {
        let (test, app) = try await TestApp.enrolled()
        for kind in [Command.Kind.wipe, .collectLogs, .unknown] {
            let id = app.registrationID
            let error = await failure {
                _ = try await test.service.administration.requestCommand(kind, ofRegistration: id, as: test.owner)
            }
            #expect(error?.code == .invalid && error?.problems.first?.member == "kind")
        }
        let command = try await test.service.administration.requestCommand(
            .resetPIN, ofRegistration: app.registrationID, as: test.owner)
        var other = TestApp(test, user: "ben", tag: "tag-2")
        try await other.register()
        let stranger = other
        #expect(await failure { try await stranger.acknowledge(.succeeded, command.id) }?.code == .notFound)
        try await test.service.devices.unregister(app.registrationID, by: app.caller)
        #expect(try await state(command, test) == .expired)
        let closed = app.registrationID
        #expect(
            await failure {
                _ = try await test.service.administration.requestCommand(
                    .resetPIN, ofRegistration: closed, as: test.owner)
            }?.code == .notFound)
    }

    @Test func `an organisation that is being moved answers 222, but for wipes`() async throws {
        var (test, app) = try await TestApp.enrolled()
        try await test.service.administration.setMoving(true, as: test.owner)
        var ben = TestApp(test, user: "ben", tag: "tag-2")
        #expect(await failure { try await ben.register() }?.status == .tenantMigration)
        #expect(await failure { try await app.checkIn() }?.status == .tenantMigration)
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        #expect(try await app.checkIn().response.statusCode == .wipeReceived)
        try await app.wipe()
        try await test.service.administration.blockUser("oid-ben", as: test.owner)
        #expect(try await ben.register().result.statusCode == .wipeReceived)
        try await test.service.administration.unblockUser("oid-ben", as: test.owner)
        try await test.service.administration.setMoving(false, as: test.owner)
        try await ben.register()
    }
}
