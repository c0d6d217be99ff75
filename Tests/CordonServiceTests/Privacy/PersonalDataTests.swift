import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

@testable import CordonService

/// SRV-CI-095: what is kept about a person can be had, and removed.
struct PersonalDataTests {
    private func filled() async throws -> (TestOrganisation, TestApp) {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        let now = Int64(test.clock.now.timeIntervalSince1970)
        try await test.service.provisioning.setWorkingTime(
            WorkingTimeReport(state: .clockedIn, asOf: now), ofUser: "oid-ada", as: test.owner)
        _ = try await test.service.devices.acceptTelemetry(
            .init(events: [ReportedEvent(.appLaunch, privacy: .requiredService, data: .usage, time: now)]),
            by: app.caller)
        _ = try await test.service.administration.requestLogs(ofRegistration: app.registrationID, as: test.owner)
        _ = try await test.service.administration.requestCommand(
            .resetPIN, ofRegistration: app.registrationID, as: test.owner)
        return (test, app)
    }

    @Test func `everything about a person is in the export`() async throws {
        let (test, app) = try await filled()
        let data = try await test.service.administration.personalData.exportUser("OID-ADA", as: test.owner)
        #expect(data.user?.userPrincipalName == "ada@contoso.example")
        #expect(data.groups == ["writers"])
        #expect(data.registrations.map(\.id) == [app.registrationID])
        #expect(data.workingTime?.state == .clockedIn)
        #expect(data.telemetry.count == 1 && data.logs.count == 1)
        #expect(data.commands.map(\.kind) == [.resetPIN])
        #expect(
            await failure {
                _ = try await test.service.administration.personalData.exportUser("nobody", as: test.owner)
            }?.code
                == .notFound)
    }

    @Test func `nothing of an erased person is left but ids in the audit log`() async throws {
        let (test, app) = try await filled()
        try await test.service.administration.forgetRegistration(app.registrationID, as: test.owner)
        try await test.service.administration.personalData.eraseUser("oid-ada", as: test.owner)
        #expect(
            await failure {
                _ = try await test.service.administration.personalData.exportUser("oid-ada", as: test.owner)
            }?.code
                == .notFound)
        #expect(
            try await test.service.administration.registrations(.init(includesClosed: true), as: test.owner).isEmpty)
        #expect(try await test.service.administration.logCollections(as: test.owner).page.isEmpty)
        #expect(try await test.service.administration.group("writers", as: test.owner).members.isEmpty)
        let stale = app
        #expect(
            await failure {
                _ = try await test.service.devices.events(
                    ofRegistration: stale.registrationID, after: nil, by: stale.caller)
            }?.status == .registrationGone)
        let export = try await test.export().joined()
        #expect(export.contains("oid-ada"))
        // The control: the name would be found.
        #expect(!export.contains("ada@contoso.example") && !export.contains("ada@"))
        #expect(export.contains("user.erase"))
    }

    @Test func `data on a device goes before the data about it`() async throws {
        var (test, app) = try await filled()
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        #expect(
            await failure { try await test.service.administration.personalData.eraseUser("oid-ada", as: test.owner) }?
                .code
                == .conflict)
        try await app.wipe()
        try await test.service.administration.personalData.eraseUser("oid-ada", as: test.owner)
    }

    @Test func `no person is erased while apps of theirs are enrolled, unless these are wiped first`() async throws {
        var (test, app) = try await filled()
        let administration = test.service.administration
        #expect(
            await failure { try await administration.personalData.eraseUser("oid-ada", as: test.owner) }?.code
                == .conflict)
        #expect(try await administration.registration(app.registrationID, as: test.owner).state == .active)
        var role = test.administrator()
        role.customRoles = [
            CustomRole(id: "privacy", displayName: "Privacy", permissions: [.handlePersonalData], members: ["x"])
        ]
        let officer = role
        let refused = await failure {
            try await administration.personalData.eraseUser("oid-ada", wipingFirst: true, as: officer)
        }
        #expect(refused?.code == .forbidden, "erasing is no way to wipe for who may not")
        let wipes = try await administration.personalData.eraseUser("oid-ada", wipingFirst: true, as: test.owner)
        #expect(wipes.map(\.registrationID) == [app.registrationID])
        #expect(
            try await administration.personalData.eraseUser("oid-ada", wipingFirst: true, as: test.owner).map(\.id)
                == wipes.map(\.id))
        try await app.wipe()
        #expect(try await administration.personalData.eraseUser("oid-ada", wipingFirst: true, as: test.owner).isEmpty)
        #expect(
            await failure { _ = try await administration.personalData.exportUser("oid-ada", as: test.owner) }?.code
                == .notFound)
    }

    /// The kinds of records that name Ada, whatever member does; the mark of her removal apart.
    private func naming(_ test: TestOrganisation) async throws -> Set<StorageKind> {
        let texts = try await test.storage.read(TestOrganisation.tenant) { records in
            try StorageKind.allCases.map { kind in (kind, try records.text(of: kind)) }
        }
        return Set(texts.filter { $0.1.lowercased().contains("oid-ada") || $0.1.contains("ada@contoso") }.map(\.0))
    }

    @Test func `no record names an erased person, but that they are removed`() async throws {
        let (test, app) = try await filled()
        let key = SoftwareSigningKey()
        let device = try await test.service.administration.registerDevice(
            CompactJWS.sign(
                MessageCoding.encode(
                    DeviceRegistrationStatement(
                        deviceID: "device-1", tenant: TestOrganisation.tenant, issuer: "https://login.example.test",
                        keyThumbprint: key.publicKey.thumbprint, since: test.clock.now)),
                type: .deviceRegistration, with: key, embedsKey: true), name: nil, as: test.owner)
        try await test.service.devices.noteSession(
            DeviceSessionStatement(
                deviceID: device.id, session: 1, account: AccountID("oid-ada"), since: 1
            ).signed(by: key), ofDevice: device.id, tenant: TestOrganisation.tenant)
        try await test.service.administration.setAllowedAccounts(
            [.init(id: AccountID("oid-ada"), userPrincipalName: "ada@contoso.example")], as: test.owner)
        let ada = try await test.service.administration.user("oid-ada", as: test.owner)
        _ = try await test.service.provisioning.synchronize(
            .init(people: [ada]), from: "file", of: TestOrganisation.tenant)
        try await test.service.provisioning.apply(
            AccountSignal(.sessionsRevoked, of: "oid-ada", at: test.clock.now),
            from: "https://login.example", of: TestOrganisation.tenant)
        let now = test.clock.now
        try await test.storage.write(TestOrganisation.tenant) { transaction in
            try transaction.save(
                OperatorAlert(
                    id: "alert-1", kind: .wipeFailed, time: now, operationID: "o", registrationID: "r",
                    userID: "OID-Ada", bundleID: TestOrganisation.app, attempts: 3))
        }
        let export = try await test.service.administration.personalData.exportUser("oid-ada", as: test.owner)
        #expect(export.alerts.map(\.id) == ["alert-1"])
        #expect(
            export.revocation != nil && export.sharedDevices == ["device-1"] && export.sources == ["file"]
                && export.allowedAccount != nil)
        let before = try await naming(test)
        #expect(
            before.isSuperset(of: [
                .user, .membership, .registration, .command, .workingTime, .telemetry, .logCollection, .sharedDevice,
                .settings,
                .directorySource, .revocation, .alert, .standing,
            ]))
        try await test.service.administration.forgetRegistration(app.registrationID, as: test.owner)
        try await test.service.administration.personalData.eraseUser("oid-ada", as: test.owner)
        #expect(try await naming(test) == [.removedPerson])
        #expect(try await test.service.administration.allowedAccounts(as: test.owner) == [])
        let bookmarks = try await test.storage.read(TestOrganisation.tenant) { records in
            try records.records(EventBookmark.self).count
        }
        #expect(bookmarks == 0)
    }

    @Test func `what was delivered to a person's app is exported and erased, also once its registration is put away`()
        async throws
    {
        var (test, app) = try await filled()
        let administration = test.service.administration
        try await administration.setAllowedAccounts(
            ["ada", "ben"].map { name in
                .init(id: AccountID("oid-\(name)"), userPrincipalName: "\(name)@contoso.example")
            }, as: test.owner)
        try await app.checkIn()
        func delivered() async throws -> [DeliveredRules] {
            try await test.storage.read(TestOrganisation.tenant) { try $0.records(DeliveredRules.self) }
        }
        let given = try await delivered()
        #expect(given.map(\.allowedAccounts) == [nil, ["oid-ada", "oid-ben"]])
        let exported = try await administration.personalData.exportUser("oid-ada", as: test.owner).deliveries
        #expect(exported.map(\.version) == given.map(\.version))
        #expect(exported.map(\.allowedAccounts) == [nil, ["oid-ada"]], "others are not named")
        try await administration.setAllowedAccounts(nil, as: test.owner)
        try await administration.forgetRegistration(app.registrationID, as: test.owner)
        try await test.service.provisioning.removeUser("oid-ada", as: test.owner)
        test.clock.advance(by: 91 * 86_400)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        #expect(try await administration.registrations(.init(includesClosed: true), as: test.owner).isEmpty)
        let export = try await administration.personalData.exportUser("OID-Ada", as: test.owner)
        #expect(export.deliveries.map(\.storageID) == given.map(\.storageID))
        try await administration.personalData.eraseUser("OID-Ada", as: test.owner)
        #expect(try await delivered().isEmpty)
        #expect(try await naming(test) == [.removedPerson])
    }

    @Test func `a change that waits and names a person is exported without the others, and stays without their name`()
        async throws
    {
        var configuration = ServiceConfiguration()
        configuration.wipeBudget = 0
        let test = try await TestOrganisation.withPeople(configuration: configuration)
        try await test.protect(to: .group("staff"))
        try await test.protect(["minimumWipeOsVersion": "99"], name: "Deadly", to: .group("guests"))
        var app = TestApp(test)
        try await app.register()
        let ofGroup = await failure {
            try await test.service.provisioning.changeMembers(
                ofGroup: "guests", adding: [.user("oid-Ada"), .user("oid-ben"), .group("writers")], removing: [],
                as: test.owner)
        }
        let ofPerson = await failure {
            _ = try await test.service.administration.requestWipe(
                ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        }
        #expect(ofGroup?.code == .waiting && ofPerson?.code == .waiting)
        let requests = test.service.administration.personalData
        let exported = try await requests.exportUser("oid-ada", as: test.owner).waitingChanges
        #expect(Set(exported.map(\.id)) == Set([ofGroup?.place, ofPerson?.place].compactMap(\.self)))
        #expect(exported.first { $0.id == ofGroup?.place }?.changes.map(\.to) == [["group/writers", "user/oid-Ada"]])
        let released = try await test.service.releaseChange(
            try #require(ofGroup?.place), of: TestOrganisation.tenant)
        try await test.service.administration.forgetRegistration(app.registrationID, as: test.owner)
        try await requests.eraseUser("oid-ada", as: test.owner)
        #expect(try await naming(test) == [.removedPerson])
        // Another's change is still released, and the end of the person's own is in the log.
        let left = try await test.storage.read(TestOrganisation.tenant) { try $0.records(WaitingChange.self) }
        #expect(left.map(\.state) == [.released] && left.map(\.digest) == [released.digest])
        #expect(left.first?.changes.map(\.to) == [["group/writers", "user/oid-ben"]])
        let ended = try await test.records().filter { $0.action == "change.expire" }
        #expect(ended.map(\.target) == ["change/\(ofPerson?.place ?? "")"])
    }

    @Test func `what is left of a person who was removed from the directory can be erased`() async throws {
        let test = try await TestOrganisation.withPeople()
        let now = Int64(test.clock.now.timeIntervalSince1970)
        try await test.service.provisioning.setWorkingTime(
            WorkingTimeReport(state: .clockedIn, asOf: now), ofUser: "oid-ada", as: test.owner)
        try await test.service.administration.blockUser("oid-ada", as: test.owner)
        try await test.service.provisioning.removeUser("oid-ada", as: test.owner)
        #expect(
            try await test.service.administration.personalData.exportUser("oid-ada", as: test.owner).workingTime == nil)
        #expect(try await naming(test) == [.block, .removedPerson])
        try await test.service.administration.personalData.eraseUser("oid-ada", as: test.owner)
        #expect(try await naming(test) == [.removedPerson])
    }
}

extension StorageReader {
    /// Every record of a kind as text.
    fileprivate func text(of kind: StorageKind) throws(ServiceError) -> String {
        switch kind {
        case .policy: String(describing: try records(ManagedAppPolicy.self))
        case .standing: String(describing: try records(PersonStatus.self))
        case .standingCount: String(describing: try records(StatusCount.self))
        case .standingBacklog: String(describing: try records(StatusBacklog.self))
        case .probe: String(describing: try records(StoreProbe.self))
        case .version: String(describing: try records(EntityVersion.self))
        case .versionDocument: String(describing: try records(VersionDocument.self))
        case .deliveredRules: String(describing: try records(DeliveredRules.self))
        case .waitingChange: String(describing: try records(WaitingChange.self))
        case .approvers: String(describing: try records(KnownApprovers.self))
        case .wipeBudget: String(describing: try records(WipeBudget.self))
        case .user: String(describing: try records(DirectoryUser.self))
        case .group: String(describing: try records(GroupEntry.self))
        case .membership: String(describing: try records(GroupMembership.self))
        case .registration: String(describing: try records(Registration.self))
        case .operation: String(describing: try records(WipeOperation.self))
        case .command: String(describing: try records(IssuedCommand.self))
        case .events: String(describing: try records(EventBookmark.self))
        case .signingKey: String(describing: try records(ServiceSigningKey.self))
        case .settings: String(describing: try records(TenantSettings.self))
        case .block: String(describing: try records(UserBlock.self))
        case .removedPerson: String(describing: try records(RemovedPerson.self))
        case .filter: String(describing: try records(AssignmentFilter.self))
        case .scopeTag: String(describing: try records(ScopeTag.self))
        case .catalogueApp: String(describing: try records(CatalogueApp.self))
        case .exportJob: String(describing: try records(ExportJob.self))
        case .reportFilter: String(describing: try records(ReportFilter.self))
        case .workingTime: String(describing: try records(WorkingTimeRecord.self))
        case .telemetry: String(describing: try records(TelemetryRecord.self))
        case .telemetryDay: String(describing: try records(TelemetryDay.self))
        case .logCollection: String(describing: try records(LogCollection.self))
        case .logPiece: String(describing: try records(LogPiece.self))
        case .directorySourceSummary: String(describing: try records(DirectorySourceSummary.self))
        case .directorySource: String(describing: try records(DirectorySource.self))
        case .sharedDevice: String(describing: try records(SharedDevice.self))
        case .customRole: String(describing: try records(CustomRole.self))
        case .revocation: String(describing: try records(SessionRevocation.self))
        case .alert: String(describing: try records(OperatorAlert.self))
        case .keySet: String(describing: try records(KeySetState.self))
        case .consoleSession: String(describing: try records(ConsoleSessionRecord.self))
        case .recoveryShare: String(describing: try records(RecoveryShareRecord.self))
        case .announcement: String(describing: try records(Announcement.self))
        }
    }
}
