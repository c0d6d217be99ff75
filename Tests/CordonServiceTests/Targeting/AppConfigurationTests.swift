import CordonPolicy
import CordonProtocol
import CordonService
import Testing

/// SRV-TG-17, SRV-TG-18, SRV-RS-111, SRV-RS-117: configurations for apps.
struct AppConfigurationTests {
    private func configure(_ test: TestOrganisation, _ settings: JSONValue) async throws -> ManagedAppPolicy {
        let document: JSONValue = [
            "displayName": "Configuration", "customSettings": settings,
            "apps": [
                [
                    "mobileAppIdentifier": [
                        "@odata.type": "#microsoft.graph.iosMobileAppIdentifier", "bundleId": "com.example.notes",
                    ]
                ]
            ],
            "assignments": [["target": ["@odata.type": "#microsoft.graph.groupAssignmentTarget", "groupId": "staff"]]],
        ]
        return try await test.service.administration.createPolicy(
            .targetedManagedAppConfiguration, document: document, as: test.owner)
    }

    @Test func `every matching configuration is its own dictionary, with tokens replaced`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        let one = try await configure(
            test, [["name": "who", "value": "{{userprincipalname}} {{PartialUPN}} {{nonsense}} {{"]])
        let two = try await configure(test, [["name": "who", "value": "{{userid}}@{{accountid}}"]])
        #expect(one.id.hasPrefix("A_"))
        var app = TestApp(test)
        try await app.register()
        let found = app.envelope?.configurations ?? []
        #expect(found.count == 2)
        #expect(found.contains(["__source": .string(one.id), "who": "ada@contoso.example ada {{nonsense}} {{"]))
        #expect(found.contains(["__source": .string(two.id), "who": "oid-ada@contoso.example"]))
    }

    @Test func `tokens of a name and of mail are a person's own, mail the sign-in name where there is none`()
        async throws
    {
        // SRV-RS-117
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        _ = try await configure(
            test, [["name": "who", "value": "{{mail}}|{{username}}|{{PrimarySMTPAddress}}"]])
        var app = TestApp(test)
        try await app.register()
        #expect(app.envelope?.configurations.map { $0["who"] } == ["ada@contoso.example|Ada|ada@contoso.example"])
        var ada = try await test.service.administration.user("oid-ada", as: test.owner)
        ada.mail = "a.field@contoso.example"
        try await test.service.provisioning.saveUser(ada, as: test.owner)
        try await app.checkIn()
        #expect(
            app.envelope?.configurations.map { $0["who"] } == ["a.field@contoso.example|Ada|a.field@contoso.example"])
    }

    @Test func `a configuration for every app reaches one that is not in the catalogue`() async throws {
        // SRV-RS-115
        let test = try await TestOrganisation.withPeople()
        try await test.protect(app: "org.example.other", to: .group("staff"))
        let one = try await configure(test, [["name": "k", "value": "v"]])
        _ = try await test.service.administration.targetApps([], group: .allApps, ofPolicy: one.id, as: test.owner)
        var app = TestApp(test, bundleID: "org.example.other")
        try await app.register()
        #expect(app.envelope?.configurations == [["__source": .string(one.id), "k": "v"]])
    }

    @Test func `the default dictionary is marked, and only that one`() async throws {
        // SRV-TG-18
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        _ = try await configure(test, [["name": "k", "value": "targeted"]])
        _ = try await test.service.administration.createPolicy(
            .defaultManagedAppProtection,
            document: ["displayName": "D", "customSettings": [["name": "k", "value": "default"]]], as: test.owner)
        var app = TestApp(test)
        try await app.register()
        let marked = (app.envelope?.configurations ?? []).filter { $0["__IsDefault"] == true }
        #expect(marked.map { $0["k"] } == ["default"])
        #expect(app.envelope?.configurations.count == 2)
    }

    @Test func `pins that no app could read are refused, others reach the app as they were written`() async throws {
        // SDK-CP-01
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        let pin = "WmuRjPpB4KAC3nmD1jtGLr-cr6gVfLkb1Qkieg74K5I"
        for text in [
            "mail.example \(pin)", #"{"mail.example": "\#(pin)"}"#, #"{"mail.example": ["sha1/AAAA"]}"#, "[]",
            #"{"*.mail.example": ["\#(pin)"]}"#, #"{"mail.example": []}"#,
        ] {
            let error = await failure {
                _ = try await configure(test, [["name": "CordonCertificatePins", "value": .string(text)]])
            }
            #expect(error?.problems.map(\.member) == ["customSettings[0]"], "\(text)")
        }
        let good = #"{"mail.example": ["sha256/\#(pin)"]}"#
        _ = try await configure(test, [["name": "CordonCertificatePins", "value": .string(good)]])
        var app = TestApp(test)
        try await app.register()
        #expect(app.envelope?.configurations.map { $0["CordonCertificatePins"] } == [.string(good)])
    }

    @Test func `a name given twice is refused and named`() async throws {
        // SRV-RS-111
        let test = try await TestOrganisation.withPeople()
        let error = await failure {
            _ = try await configure(test, [["name": "k", "value": "1"], ["name": "k", "value": "2"]])
        }
        #expect(error?.code == .invalid)
        #expect(error?.problems.map(\.member) == ["customSettings[1]"])
    }

    @Test func `the version of an envelope says nothing of a configuration's secret values`() async throws {
        // Two organisations with the same people, groups, policies and values.
        func versions(isConfigured: Bool) async throws -> [String] {
            let (one, other) = (try await TestOrganisation.withPeople(), try await TestOrganisation.withPeople())
            try await one.protect(to: .group("staff"))
            if isConfigured { _ = try await configure(one, [["name": "vpnPassword", "value": "hunter2"]]) }
            let policies = try await one.storage.read(TestOrganisation.tenant) { try $0.records(ManagedAppPolicy.self) }
            try await other.storage.write(TestOrganisation.tenant) { records in
                for policy in policies { try records.save(policy) }
                var settings = try #require(try records.record(TenantSettings.self, TenantSettings.id))
                settings.targetingRevision += 1
                try records.save(settings)
            }
            var versions: [String] = []
            for test in [one, other] {
                var app = TestApp(test)
                try await app.register()
                let envelope = try #require(app.envelope)
                #expect(envelope.configurations.contains { $0["vpnPassword"] == "hunter2" } == isConfigured)
                versions.append(envelope.version)
            }
            return versions
        }
        let plain = try await versions(isConfigured: false)
        #expect(plain[0] == plain[1], "the control")
        let secret = try await versions(isConfigured: true)
        #expect(secret[0] != secret[1])
    }
}
