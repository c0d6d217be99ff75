import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

@testable import CordonService

/// Texts that administrators store show as what they are, wherever they stand.
@Suite struct StoredTextTests {
    @Test(arguments: ["a\u{202E}b", "a\u{1B}[2Jb", "a\u{2066}b", "a\u{7F}"])
    func `no text that an administrator stores shows as something else`(text: String) async throws {
        let test = try await TestOrganisation.withPeople()
        let (admin, owner, now) = (test.service.administration, test.owner, test.clock.now)
        let policy = try await test.protect(to: .group("staff"))
        func create(_ document: [String: JSONValue], _ kind: PolicyKind = .iosManagedAppProtection) async throws {
            _ = try await admin.createPolicy(
                kind, document: .object(document.merging(["displayName": "P"]) { given, _ in given }), as: owner)
        }
        func save(_ resource: some AdministeredResource) async throws {
            try await admin.saveResource(resource, isNew: true, as: owner)
        }
        func filter(_ name: String = "F", _ about: String? = nil, tags: [String] = ["0"]) -> AssignmentFilter {
            AssignmentFilter(
                id: "f", displayName: name, description: about, rule: "(app.osVersion -ge \"17\")", created: now,
                modified: now, scopeTags: tags)
        }
        func role(_ name: String = "R", _ about: String? = nil, tags: Set<String>? = nil) -> CustomRole {
            CustomRole(
                id: "r", displayName: name, description: about, permissions: [.read], members: ["x"], scopeTags: tags)
        }
        let value = JSONValue.string(text)
        let calls: [(name: String, call: () async throws -> Void)] = [
            ("policy", { try await create(["displayName": value]) }),
            ("configuration", { try await create(["displayName": value], .targetedManagedAppConfiguration) }),
            ("description", { try await create(["description": value]) }),
            ("tag of a policy", { try await create(["roleScopeTagIds": [value]]) }),
            ("setting", { try await create(["customSettings": [["name": value, "value": "1"]]]) }),
            ("unknown member", { try await create(["ourNote": ["inside": [value]]]) }),
            ("unknown name", { try await create([text: "x"]) }),
            (
                "renamed",
                {
                    _ = try await admin.updatePolicy(
                        policy.id, changes: ["displayName": value], ifVersion: nil, as: owner)
                }
            ),
            (
                "app of a policy",
                { _ = try await admin.targetApps([.init(.ios, text)], group: nil, ofPolicy: policy.id, as: owner) }
            ),
            ("filter", { try await save(filter(text)) }),
            ("filter's description", { try await save(filter("F", text)) }),
            ("filter's tag", { try await save(filter(tags: [text])) }),
            ("scope tag", { try await save(ScopeTag(id: "t", displayName: text)) }),
            ("scope tag's description", { try await save(ScopeTag(id: "t", displayName: "T", description: text)) }),
            ("role", { try await save(role(text)) }), ("role's description", { try await save(role("R", text)) }),
            ("role's tag", { try await save(role(tags: [text])) }),
            ("app", { try await save(CatalogueApp(bundleID: "com.example.b", displayName: text)) }),
            (
                "publisher",
                { try await save(CatalogueApp(bundleID: "com.example.b", displayName: "B", publisher: text)) }
            ),
            ("bundle id", { try await save(CatalogueApp(bundleID: text, displayName: "B")) }),
            (
                "report filter",
                { _ = try await admin.reportFilters.saveReportFilter(text, of: .drift, search: "x", as: owner) }
            ),
            (
                "report filter's word",
                { _ = try await admin.reportFilters.saveReportFilter("N", of: .drift, search: text, as: owner) }
            ),
            (
                "allowed account",
                {
                    try await admin.setAllowedAccounts(
                        [.init(id: AccountID("oid-ada"), userPrincipalName: text)], as: owner)
                }
            ),
        ]
        for (name, call) in calls {
            let error = await failure(call)
            #expect(error?.code == .invalid && error?.problems.isEmpty == false, "\(name)")
        }
    }

    @Test(arguments: [
        "Fin\u{200B}ance", "Fin\u{200C}ance", "Fin\u{2060}ance", "\u{FEFF}Finance", "Fin\u{AD}ance", "Fin\u{180E}ance",
        "Fin\u{206A}ance", "Fin\u{E0041}ance", "Fin\u{FFF9}ance", "Fin\u{FE0F}ance", "\u{34F}", "\u{3164}", "\u{2800}",
        "\u{1F3F4}\u{E0041}\u{E007F} Team",
    ])
    func `no name that things are chosen by hides a character`(name: String) async throws {
        let test = try await TestOrganisation.withPeople()
        let (admin, owner) = (test.service.administration, test.owner)
        let role = CustomRole(id: "r", displayName: name, permissions: [.read], members: ["x"])
        let group = DirectoryGroup(id: "g", displayName: name, members: [])
        let calls: [(name: String, call: () async throws -> Void)] = [
            ("policy", { _ = try await test.protect(name: name) }),
            ("role", { try await admin.saveResource(role, isNew: true, as: owner) }),
            ("tag", { try await admin.saveResource(ScopeTag(id: "t", displayName: name), isNew: true, as: owner) }),
            ("group", { try await test.service.provisioning.saveGroup(group, as: owner) }),
            (
                "group of a file",
                {
                    _ = try await test.service.provisioning.synchronize(
                        DirectoryContent(groups: [group]), from: "file", of: TestOrganisation.tenant)
                }
            ),
            (
                "sign-in name",
                {
                    try await test.service.provisioning.saveUser(
                        DirectoryUser(id: "new", userPrincipalName: name + "@x.example", displayName: "N"), as: owner)
                }
            ),
        ]
        for (what, call) in calls { #expect(await failure(call)?.code == .invalid, "\(what)") }
        // A description may have what its author typed.
        _ = try await test.protect(["description": .string("About Fin\u{200B}ance")])
    }

    @Test(arguments: [
        "می\u{200C}خواهم", "PDF\u{200C}ها", "क्\u{200D}ष", "👩\u{200D}🔧 Workshop", "❤\u{FE0F} Care", "葛\u{E0100}城",
        "1\u{FE0F}\u{20E3} First", "Zoë", "Łódź",
        "\u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F} Scotland",
    ])
    func `names are written as their scripts need it`(name: String) async throws {
        let test = try await TestOrganisation.withPeople()
        _ = try await test.protect(name: name)
        try await test.service.provisioning.saveGroup(
            DirectoryGroup(id: "g", displayName: name, members: []), as: test.owner)
    }

    @Test func `a group that an earlier version took under a hidden character keeps its name and changes its members`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        let (provisioning, owner) = (test.service.provisioning, test.owner)
        var group = DirectoryGroup(id: "old", displayName: "Fin\u{200B}ance", members: [])
        let entry = group.entry
        try await test.storage.write(TestOrganisation.tenant) { try $0.save(entry) }
        group.members = [.user("oid-ada")]
        try await provisioning.saveGroup(group, as: owner)
        #expect(try await test.service.administration.group("old", as: owner) == group)
        group.displayName = "Fin\u{200B}ances"
        let renamed = group
        #expect(await failure { try await provisioning.saveGroup(renamed, as: owner) }?.code == .invalid)
    }

    @Test func `a description may have lines, a name has one`() async throws {
        let test = try await TestOrganisation.withPeople()
        let (admin, owner) = (test.service.administration, test.owner)
        let policy = try await test.protect(["description": "One.\r\n\tTwo."])
        #expect(policy.document["description"] == "One.\r\n\tTwo.")
        try await admin.saveResource(
            ScopeTag(id: "t", displayName: "T", description: "One.\nTwo."), isNew: true, as: owner)
        for name in ["a\nb", "a\tb"] {
            #expect(await failure { _ = try await test.protect(name: name) }?.code == .invalid)
            #expect(
                await failure {
                    try await admin.saveResource(ScopeTag(id: "u", displayName: name), isNew: true, as: owner)
                }?.code == .invalid)
        }
    }

    @Test func `what an earlier version took is read as it is, and the rest can be changed beside it`() async throws {
        let test = try await TestOrganisation.withPeople()
        let (admin, owner) = (test.service.administration, test.owner)
        let (old, other) = ("Old\u{202E}name", "Other\u{202E}name")
        var policy = try await test.protect(to: .group("staff"))
        var members = policy.document.object ?? [:]
        members["displayName"] = .string(old)
        policy.document = .object(members)
        let (kept, tag) = (policy, ScopeTag(id: "t", displayName: old))
        try await test.storage.write(TestOrganisation.tenant) { records in
            try records.save(kept)
            try records.save(tag)
        }
        #expect(try await admin.policy(kept.id, as: owner).document["displayName"] == .string(old))
        let written = try await admin.updatePolicy(
            kept.id, changes: ["printBlocked": true, "displayName": .string(old)], ifVersion: nil, as: owner)
        #expect(written.document["displayName"] == .string(old) && written.document["printBlocked"] == true)
        try await admin.saveResource(
            ScopeTag(id: "t", displayName: old, description: "About it."), isNew: false, as: owner)
        #expect(
            await failure {
                _ = try await admin.updatePolicy(
                    kept.id, changes: ["displayName": .string(other)], ifVersion: nil, as: owner)
            }?.code == .invalid)
        #expect(
            await failure {
                try await admin.saveResource(ScopeTag(id: "t", displayName: other), isNew: false, as: owner)
            }?.code == .invalid)
        _ = try await admin.updatePolicy(kept.id, changes: ["displayName": "New"], ifVersion: nil, as: owner)
    }

    @Test func `a device whose name an earlier version took registers again`() async throws {
        let test = try await TestOrganisation.withPeople()
        let (admin, owner) = (test.service.administration, test.owner)
        let (key, name) = (SoftwareSigningKey(), "Ward\u{202E}3")
        let facts = DeviceRegistrationStatement(
            deviceID: "device-1", tenant: TestOrganisation.tenant, issuer: "https://login.example.test",
            keyThumbprint: key.publicKey.thumbprint, since: test.clock.now)
        let statement = try CompactJWS.sign(
            MessageCoding.encode(facts), type: .deviceRegistration, with: key, embedsKey: true)
        #expect(
            await failure { _ = try await admin.registerDevice(statement, name: name, as: owner) }?.code == .invalid)
        let old = SharedDevice(
            id: "device-1", key: key.publicKey, name: name, registered: test.clock.now, registeredBy: owner.id)
        try await test.storage.write(TestOrganisation.tenant) { try $0.save(old) }
        #expect(try await admin.registerDevice(statement, name: name, as: owner).name == name)
    }

    @Test(
        arguments: [
            (["a\u{1}b": "x"], ""), (["ourNote": ["a\u{1}b": "x"]], "ourNote"),
            (["ourNote": [["inside": "a\u{1}b"]]], "ourNote"),
        ] as [(JSONValue, String)])
    func `a refused text of a policy names the member that it is in`(document: JSONValue, member: String) async throws {
        let test = try await TestOrganisation.withPeople()
        let members = (document.object ?? [:]).merging(["displayName": "P"]) { given, _ in given }
        let error = await failure {
            _ = try await test.service.administration.createPolicy(
                .iosManagedAppProtection, document: .object(members), as: test.owner)
        }
        #expect(error?.code == .invalid && error?.problems.map(\.member) == [member])
    }
}
