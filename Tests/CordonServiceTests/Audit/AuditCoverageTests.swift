import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import Testing

/// SRV-CI-092: every operation of the service leaves its trace in the audit log, or is known to change nothing.
///
/// The operations are read from the roles' own source, so that a new one cannot be forgotten here.
struct AuditCoverageTests {
    /// Reads that change nothing and are in the log only when refused.
    private static let reads: Set<String> = [
        "policies", "policy", "intendedPolicies", "users", "user", "groups", "group", "registrations", "registration",
        "blockedUsers", "operations", "operation", "allowedAccounts", "signingKeys", "auditRecords", "exportAudit",
        "workingTime", "serviceSettings", "logCollections", "telemetry", "sharedDevices", "events", "keySet",
        "discoveryFacts", "customRoles", "commands", "isMoving", "drift",
        "protectionSummary", "deploymentSummaries", "attention", "protectionStatuses", "flaggedApps", "appStatuses",
        "sessionRevocations", "sessionRevocation", "administratorsSince",
        "isAccountDisabled", "verdict",
        "pendingWork", "alerts", "impact", "readiness", "restoration", "keySetMaxAge", "holder", "isAwaited",
        "evidence", "groupEntries", "groupEntry", "groupHasMore", "members", "activeRegistrationCount",
        "directoryCount", "expiringApps", "installedVersions", "filterMatches", "protection", "people", "isBlocked",
        "newestAuditRecords", "directorySources", "reportFilters", "hasPeople", "wordOfEnabledAccount",
    ]
    /// What devices send all the time and what is kept elsewhere: counted, aggregated, or noted only where it differs.
    private static let routine: Set<String> = ["checkIn", "compliance", "acceptTelemetry"]
    /// What one pair of calls does for every kind of supporting resource, with tests of its own.
    private static let resources: Set<String> = [
        "resources", "resource", "saveResource", "replaceResource", "removeResource",
    ]

    /// A call of one operation, and the actions that it writes.
    private struct Write: Sendable {
        var name: String
        var actions: Set<String>
        var call: @Sendable (Story) async throws -> Void

        init(_ name: String, _ actions: Set<String>, _ call: @escaping @Sendable (Story) async throws -> Void) {
            self.name = name
            self.actions = actions
            self.call = call
        }
    }

    /// Evidence as it stands after a key was attested.
    private static func evidence(_ story: Story) -> VerifiedEvidence {
        VerifiedEvidence(
            app: "9XK3M7QW2P.org.example.notes", environment: "production", keyID: Data(count: 32),
            publicKey: Data(count: 65), counter: 0, verified: story.test.clock.now)
    }

    /// A small organisation with one enrolled app.
    private struct Story: Sendable {
        let test: TestOrganisation
        let policy: String
        var app: TestApp
        let device = SoftwareSigningKey()
        var service: ManagementService { test.service }
        var owner: Administrator {
            var owner = test.owner
            owner.call.requestID = "request-1"
            return owner
        }

        init() async throws {
            test = try await TestOrganisation.withPeople()
            policy = try await test.protect(to: .group("staff")).id
            app = TestApp(test)
            try await app.register()
        }

        func statement() throws -> String {
            let facts = DeviceRegistrationStatement(
                deviceID: "device-1", tenant: TestOrganisation.tenant, issuer: "https://login.example.test",
                keyThumbprint: device.publicKey.thumbprint, since: test.clock.now)
            return try CompactJWS.sign(
                MessageCoding.encode(facts), type: .deviceRegistration, with: device, embedsKey: true)
        }

        func wipe() async throws -> String {
            try await service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: owner).first?.id
                ?? ""
        }

        func command() async throws -> String {
            try await service.administration.requestCommand(.resetPIN, ofRegistration: app.registrationID, as: owner).id
        }

        func keepShare() async throws {
            var caller = app.caller
            caller.authenticated = test.clock.now
            try await service.devices.keepRecoveryShare(
                RecoveryShare(sealed: Base64URL.encode(Data(repeating: 7, count: 60))),
                registration: app.registrationID, by: caller)
        }

        func logs() async throws -> LogCollection {
            let collection = try await service.administration.requestLogs(ofRegistration: app.registrationID, as: owner)
            _ = try await service.devices.receiveLogs(
                Data("x".utf8), at: 0, of: 1, request: collection.id, registration: app.registrationID, by: app.caller)
            return collection
        }
    }

    private static let writes: [Write] = [
        Write("createPolicy", ["policy.create"]) {
            _ = try await $0.service.administration.createPolicy(
                .iosManagedAppProtection, document: ["displayName": "New"], as: $0.owner)
        },
        Write("updatePolicy", ["policy.update"]) {
            _ = try await $0.service.administration.updatePolicy(
                $0.policy, changes: ["saveAsBlocked": true], ifVersion: nil, as: $0.owner)
        },
        Write("deletePolicy", ["policy.delete"]) {
            try await $0.service.administration.deletePolicy($0.policy, ifVersion: nil, as: $0.owner)
        },
        Write("assignPolicy", ["policy.assign"]) {
            _ = try await $0.service.administration.assignPolicy($0.policy, to: [], as: $0.owner)
        },
        Write("targetApps", ["policy.targetApps"]) {
            _ = try await $0.service.administration.targetApps([], group: nil, ofPolicy: $0.policy, as: $0.owner)
        },
        Write("saveReportFilter", ["reportFilter.save"]) {
            _ = try await $0.service.administration.reportFilters.saveReportFilter(
                "Tills", of: .drift, search: "till", as: $0.owner)
        },
        Write("removeReportFilter", ["reportFilter.save", "reportFilter.remove"]) {
            let filters = $0.service.administration.reportFilters
            let saved = try await filters.saveReportFilter("Tills", of: .drift, search: "till", as: $0.owner)
            try await filters.removeReportFilter(saved.id, as: $0.owner)
        },
        Write("saveUser", ["user.save"]) {
            try await $0.service.provisioning.saveUser(
                DirectoryUser(id: "new", userPrincipalName: "new@contoso.example", displayName: "New"), as: $0.owner)
        },
        Write("replaceUser", ["user.save"]) {
            let known = try await $0.service.administration.user("oid-ben", as: $0.owner)
            var new = known
            new.displayName = "Benjamin"
            try await $0.service.provisioning.replaceUser(known, with: new, as: $0.owner)
        },
        Write("replaceGroup", ["group.save"]) {
            try await $0.service.provisioning.replaceGroup(
                nil, with: DirectoryGroup(id: "new", displayName: "N"), as: $0.owner)
        },
        Write("synchronize", ["user.save"]) {
            let new = DirectoryUser(id: "new", userPrincipalName: "new@contoso.example", displayName: "New")
            _ = try await $0.service.provisioning.synchronize(
                DirectoryContent(people: [new]), from: "file", of: TestOrganisation.tenant)
        },
        Write("removeUser", ["user.remove"]) { try await $0.service.provisioning.removeUser("oid-ben", as: $0.owner) },
        Write("apply", ["account.signal"]) {
            try await $0.service.provisioning.apply(
                AccountSignal(.accountDisabled, of: "oid-ben", at: $0.test.clock.now),
                from: "https://login.example", of: TestOrganisation.tenant)
        },
        Write("revokeSessions", ["user.revokeSessions"]) {
            _ = try await $0.service.administration.revokeSessions(ofUser: "oid-ben", as: $0.owner)
        },
        Write("saveGroup", ["group.save"]) {
            try await $0.service.provisioning.saveGroup(DirectoryGroup(id: "new", displayName: "New"), as: $0.owner)
        },
        Write("changeMembers", ["group.members"]) {
            try await $0.service.provisioning.changeMembers(
                ofGroup: "guests", adding: [.user("oid-ben")], removing: [], as: $0.owner)
        },
        Write("removeGroup", ["group.remove"]) {
            try await $0.service.provisioning.removeGroup("guests", as: $0.owner)
        },
        Write("forgetRegistration", ["registration.forget"]) {
            try await $0.service.administration.forgetRegistration($0.app.registrationID, as: $0.owner)
        },
        Write("requestWipe", ["wipe.request"]) { _ = try await $0.wipe() },
        Write("cancelOperation", ["wipe.request", "wipe.cancelled"]) {
            _ = try await $0.service.administration.cancelOperation(try await $0.wipe(), as: $0.owner)
        },
        Write("blockUser", ["user.block"]) { try await $0.service.administration.blockUser("oid-ben", as: $0.owner) },
        Write("unblockUser", ["user.block", "user.unblock"]) {
            try await $0.service.administration.blockUser("oid-ben", as: $0.owner)
            try await $0.service.administration.unblockUser("oid-ben", as: $0.owner)
        },
        Write("setAllowedAccounts", ["allowedAccounts.set"]) {
            try await $0.service.administration.setAllowedAccounts([], as: $0.owner)
        },
        Write("rotateAuditKey", ["key.rotate"]) {
            _ = try await $0.service.administration.rotateAuditKey(hasLeaked: false, as: $0.owner)
        },
        Write("rotateSigningKey", ["key.rotate"]) {
            _ = try await $0.service.administration.rotateSigningKey(activeFrom: $0.test.clock.now, as: $0.owner)
        },
        Write("setWorkingTime", ["workingTime.set"]) {
            try await $0.service.provisioning.setWorkingTime(
                WorkingTimeReport(state: .clockedIn, asOf: 1), ofUser: "oid-ben", as: $0.owner)
        },
        Write("setServiceSettings", ["settings.set"]) {
            try await $0.service.administration.setServiceSettings(ServiceSettings(telemetry: .off), as: $0.owner)
        },
        Write("requestLogs", ["logs.request"]) {
            _ = try await $0.service.administration.requestLogs(ofRegistration: $0.app.registrationID, as: $0.owner)
        },
        Write("requestCommand", ["command.request"]) { _ = try await $0.command() },
        Write("cancelCommand", ["command.request", "command.cancelled"]) {
            _ = try await $0.service.administration.cancelCommand(try await $0.command(), as: $0.owner)
        },
        Write("confirmRestoration", ["store.restored", "store.confirm", "key.rotate"]) {
            try await $0.service.noteRestoration(
                StoreRestoration(made: $0.test.clock.now, manifest: "ab"), of: TestOrganisation.tenant)
            try await $0.service.administration.confirmRestoration(as: $0.owner)
        },
        Write("setMoving", ["tenant.moving"]) { try await $0.service.administration.setMoving(true, as: $0.owner) },
        Write("receiveLogs", ["logs.request", "logs.received"]) { _ = try await $0.logs() },
        Write("logs", ["logs.request", "logs.received", "logs.read"]) {
            _ = try await $0.service.administration.logs(try await $0.logs().id, as: $0.owner)
        },
        Write("exportUser", ["user.export"]) {
            _ = try await $0.service.administration.personalData.exportUser("oid-ben", as: $0.owner)
        },
        Write("eraseUser", ["user.erase"]) {
            try await $0.service.administration.personalData.eraseUser("oid-ben", as: $0.owner)
        },
        Write("registerDevice", ["device.register"]) {
            _ = try await $0.service.administration.registerDevice($0.statement(), name: nil, as: $0.owner)
        },
        Write("releaseDevice", ["device.register", "device.release"]) {
            _ = try await $0.service.administration.registerDevice($0.statement(), name: nil, as: $0.owner)
            try await $0.service.administration.releaseDevice("device-1", as: $0.owner)
        },
        Write("noteSession", ["device.register", "device.signIn"]) {
            _ = try await $0.service.administration.registerDevice($0.statement(), name: nil, as: $0.owner)
            let session = DeviceSessionStatement(deviceID: "device-1", session: 1, account: AccountID("x"), since: 1)
            try await $0.service.devices.noteSession(
                session.signed(by: $0.device), ofDevice: "device-1", tenant: TestOrganisation.tenant)
        },
        Write("register", ["registration.create"]) {
            var other = TestApp($0.test, user: "ben", tag: "tag-2")
            try await other.register()
        },
        Write(
            "acknowledge",
            ["wipe.request", "wipe.delivered", "wipe.acknowledged", "wipe.succeeded", "registration.wiped"]
        ) {
            _ = try await $0.wipe()
            var app = $0.app
            try await app.wipe()
        },
        Write("keepEvidence", ["registration.evidence"]) { story in
            try await story.service.devices.keepEvidence(
                Self.evidence(story), ofRegistration: story.app.registrationID, by: story.app.caller)
        },
        Write("noteRefusedEvidence", ["registration.evidence", "registration.evidenceRefused"]) { story in
            try await story.service.devices.keepEvidence(
                Self.evidence(story), ofRegistration: story.app.registrationID, by: story.app.caller)
            try await story.service.devices.noteRefusedEvidence(
                ofRegistration: story.app.registrationID, by: story.app.caller)
        },
        Write("keepRecoveryShare", ["recoveryShare.keep"]) { try await $0.keepShare() },
        Write("releaseRecoveryShare", ["recoveryShare.keep", "recoveryShare.release"]) {
            try await $0.keepShare()
            var caller = $0.app.caller
            caller.authenticated = $0.test.clock.now
            _ = try await $0.service.devices.releaseRecoveryShare(ofRegistration: $0.app.registrationID, by: caller)
        },
        Write("forgetRecoveryShare", ["recoveryShare.keep", "recoveryShare.forget"]) {
            try await $0.keepShare()
            try await $0.service.devices.forgetRecoveryShare(ofRegistration: $0.app.registrationID, by: $0.app.caller)
        },
        Write("unregister", ["registration.unregister"]) {
            try await $0.service.devices.unregister($0.app.registrationID, by: $0.app.caller)
        },
    ]

    @Test func `no operation is forgotten here`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/CordonService")
        var operations: Set<String> = []
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(
                of:
                    /\n(public struct|extension) (Administration|DeviceService|PersonalDataRequests|Provisioning|ReportFilters)[ :]/
            ) {
                let rest = text[match.range.upperBound...]
                let body = rest.prefix(upTo: rest.firstRange(of: "\n}\n")?.lowerBound ?? rest.endIndex)
                for match in body.matches(of: /\n    (public|package) func ([A-Za-z]+)/) {
                    operations.insert(String(match.2))
                }
            }
        }
        // The control: the source was found and read.
        #expect(operations.count > 40)
        let known = Set(Self.writes.map(\.name)).union(Self.reads).union(Self.routine)
            .union(Self.resources)
        #expect(operations.subtracting(known) == [])
    }

    @Test func `every write is in the audit log`() async throws {
        for write in Self.writes {
            let story = try await Story()
            let before = try await story.test.records().count
            try await write.call(story)
            let added = try await story.test.records().dropFirst(before)
            #expect(Set(added.map(\.action)) == write.actions, "\(write.name)")
            #expect(added.allSatisfy { $0.outcome == .done }, "\(write.name)")
            let own = added.filter { $0.actor.id == story.owner.id }
            // Records of logs name the request for the logs.
            #expect(own.allSatisfy { $0.details["request"] != nil }, "\(write.name)")
        }
    }

    @Test func `every refused call of an administrator is in the audit log`() async throws {
        let story = try await Story()
        let nobody = Administrator(tenant: TestOrganisation.tenant, id: "nobody", name: "Nobody", roles: [])
        let service = story.service
        let calls: [(String, () async throws -> Void)] = [
            ("policies", { _ = try await service.administration.policies(of: [], as: nobody) }),
            ("users", { _ = try await service.administration.users(as: nobody) }),
            ("exportAudit", { _ = try await service.administration.exportAudit(as: nobody) }),
            ("exportUser", { _ = try await service.administration.personalData.exportUser("oid-ada", as: nobody) }),
            ("logs", { _ = try await service.administration.logs("x", as: nobody) }),
            ("setServiceSettings", { try await service.administration.setServiceSettings(.usual, as: nobody) }),
            ("registerDevice", { _ = try await service.administration.registerDevice("x", name: nil, as: nobody) }),
            ("eraseUser", { try await service.administration.personalData.eraseUser("oid-ada", as: nobody) }),
            (
                "putBackPolicy",
                {
                    _ = try await service.administration.history.putBackPolicy(
                        story.policy, version: "1", ifVersion: nil, as: nobody)
                }
            ),
            ("confirmRestoration", { try await service.administration.confirmRestoration(as: nobody) }),
        ]
        for (name, call) in calls {
            #expect(await failure(call)?.code == .forbidden, "\(name)")
            let last = try await story.test.records().last
            #expect(last?.target == "call/\(name)" && last?.outcome == .denied && last?.actor.id == "nobody")
        }
    }

    @Test func `what a program did, and what it was refused, is told from a person's`() async throws {
        let test = try await TestOrganisation.withPeople()
        var program = test.owner
        program.isProgram = true
        let user = DirectoryUser(id: "oid-cleo", userPrincipalName: "cleo@contoso.example", displayName: "Cleo")
        try await test.service.provisioning.saveUser(user, as: program)
        #expect(try await test.records().last?.details["program"] == "true")
        program.roles = []
        _ = await failure { try await test.service.provisioning.removeUser(user.id, as: program) }
        let refused = try await test.records().last
        #expect(refused?.outcome == .denied && refused?.details["program"] == "true")
        try await test.service.provisioning.removeUser(user.id, as: test.owner)
        #expect(try await test.records().last?.details["program"] == nil)
    }

    @Test func `a refusal inside a transaction is in the audit log once, and nothing else of the transaction is`()
        async throws
    {
        let story = try await Story()
        var author = Administrator(tenant: TestOrganisation.tenant, id: "author", name: "Author", roles: [.reader])
        author.customRoles = [
            CustomRole(
                id: "r", displayName: "R", permissions: [.writePolicies], members: ["x"], scopeTags: ["elsewhere"])
        ]
        let before = try await story.test.records().count
        let error = await failure {
            _ = try await story.service.administration.updatePolicy(
                story.policy, changes: ["saveAsBlocked": true], ifVersion: nil, as: author)
        }
        #expect(error?.code == .forbidden)
        let added = try await story.test.records().dropFirst(before)
        #expect(added.map(\.target) == ["call/updatePolicy"] && added.allSatisfy { $0.actor.id == "author" })
    }

    @Test func `a device is refused under the name of its call, whatever it did before`() async throws {
        let story = try await Story()
        var stranger = TestApp(story.test, user: "stranger", tag: "tag-9")
        let before = try await story.test.records().count
        #expect(await failure { try await stranger.register() }?.status == .notLicensed)
        let refused = try await story.test.records().dropFirst(before)
        #expect(refused.map(\.target) == ["call/register"])
        #expect(refused.first?.actor.id == stranger.caller.keyThumbprint)
    }

    @Test func `the log says what roles, accounts and settings were changed to, and why`() async throws {
        let test = try await TestOrganisation()
        let admin = test.service.administration
        var owner = test.owner
        owner.call.reason = "the new shift"
        var role = CustomRole(id: "r", displayName: "R", permissions: [.read], members: ["user:a", "nurses"])
        try await admin.saveResource(role, isNew: true, as: owner)
        role.permissions.insert(.wipe)
        try await admin.saveResource(role, isNew: false, as: owner)
        try await admin.removeResource(CustomRole.self, "r", as: owner)
        try await admin.setAllowedAccounts(
            [.init(id: AccountID("oid-1"), userPrincipalName: "one@contoso.example")], as: owner)
        try await admin.setServiceSettings(ServiceSettings(minimumSDKVersion: "1.4"), as: owner)
        _ = try await admin.rotateAuditKey(hasLeaked: false, as: owner)
        let records = try await test.records().suffix(6)
        #expect(
            records.map(\.action) == [
                "role.save", "role.save", "role.remove", "allowedAccounts.set", "settings.set", "key.rotate",
            ])
        let changes = records.map { $0.details["change"] ?? "" }
        #expect(changes[0].contains(#""to":["nurses","user:a"]"#))
        #expect(changes[1] == #"[{"from":["read"],"member":"permissions","to":["read","wipe"]}]"#)
        #expect(changes[2].contains(#""from":["nurses","user:a"]"#))
        #expect(records.first?.details["addedMembers"] == "group/nurses, user/a")
        let accounts = records.first { $0.action == "allowedAccounts.set" }?.details
        #expect(accounts?["addedMembers"] == "user/oid-1" && accounts?["accounts"] == "1")
        let (ofPerson, _) = try await admin.newestAuditRecords(
            before: nil, actionsFrom: "", person: "oid-1", limit: 10, as: owner)
        #expect(ofPerson.map(\.action) == ["allowedAccounts.set"])
        #expect(changes[4] == #"[{"member":"minimumSDKVersion","to":"1.4"}]"#)
        #expect(records.allSatisfy { $0.details["reason"] == "the new shift" })
    }

    @Test func `a stranger's false statements do not keep a real refusal out of the log`() async throws {
        let story = try await Story()
        let device = try await story.service.administration.registerDevice(
            try story.statement(), name: nil, as: story.owner)
        for _ in 0..<200 {
            let error = await failure {
                _ = try await story.service.devices.verdict(
                    on: "garbage", ofDevice: device.id, tenant: TestOrganisation.tenant)
            }
            #expect(error?.code == .wrongKey)
        }
        let reader = story.test.administrator(.reader)
        #expect(
            await failure { try await story.service.administration.blockUser("oid-ben", as: reader) }?.code
                == .forbidden)
        let refused = try await story.test.records().filter { $0.action == "call.refused" }
        #expect(refused.count == 11)
        #expect(refused.last?.target == "call/blockUser" && refused.last?.details["leftOut"] == "190")
    }
}
