import ArgumentParser
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonServiceHTTP
import Foundation
import Testing

@testable import CordonCommand

@Suite struct ServeOptionsTests {
    private func status(of error: any Error) -> CordonCommand.ExitStatus? { (error as? CommandFailure)?.status }

    @Test(arguments: [
        ("127.0.0.1:8080", "127.0.0.1", 8080), ("localhost:0", "localhost", 0), ("[::1]:443", "::1", 443),
    ])
    func `an address is a host and a port`(_ text: String, _ host: String, _ port: Int) throws {
        let address = try ListenAddress(text)
        #expect(address.host == host)
        #expect(address.port == port)
    }

    @Test(arguments: ["", "8080", ":8080", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000"])
    func `text that is not an address is a usage error`(_ text: String) {
        #expect { _ = try ListenAddress(text) } throws: { status(of: $0) == .usage }
    }

    @Test(arguments: ["mysql://x", "sqlite:", "service.sqlite"])
    func `an unknown database is a usage error`(_ text: String) {
        #expect { _ = try ServiceDatabase(text) } throws: { status(of: $0) == .usage }
    }

    @Test func `a flag wins over the file and the file over the default`() throws {
        try withServeFolder { folder in
            let file = folder.appending(path: "service.json")
            try Data(#"{"listen": "127.0.0.1:9001", "tenant": "contoso", "issuers": ["https://a.example.test"]}"#.utf8)
                .write(to: file)
            let plan = try ServeOptions.parse(["--config", file.path, "--tenant", "fabrikam"]).plan()
            #expect(plan.server.port == 9001)
            #expect(plan.server.tenant.rawValue == "fabrikam")
            #expect(plan.server.issuers == ["https://a.example.test"])
            guard case .sqlite(let database) = plan.database else { throw CommandFailure(.badInput, "no SQLite") }
            #expect(database.path == plan.folder.appending(path: "service.sqlite").path)
        }
    }

    @Test func `the most connections come from file, environment and flag, and 0 is refused`() throws {
        try withServeFolder { folder in
            let file = folder.appending(path: "service.json")
            try Data(#"{"maxConnections": 100}"#.utf8).write(to: file)
            let fromFile = try ServeOptions.parse(["--config", file.path])
            #expect(try fromFile.plan(environment: [:]).server.maximumConnections == 100)
            let environment = ["CORDON_MAX_CONNECTIONS": "200"]
            #expect(try fromFile.plan(environment: environment).server.maximumConnections == 200)
            let flag = try ServeOptions.parse(["--config", file.path, "--max-connections", "0"])
            let server = try flag.plan(environment: environment).server
            #expect(throws: ProgramError.self) { try server.validate() }
        }
    }

    @Test func `how long things are kept and how fast apps are told come from file and environment`() throws {
        try withServeFolder { folder in
            let file = folder.appending(path: "service.json")
            try Data(#"{"retentionDays": {"telemetry": 10, "logs": 7}, "announcementsPerSecond": 50}"#.utf8).write(
                to: file)
            let options = try ServeOptions.parse(["--config", file.path])
            let service = try options.plan(environment: [:]).service
            #expect(service.telemetryRetention == .seconds(10 * 86_400) && service.logRetention == .seconds(7 * 86_400))
            #expect(
                service.alertRetention == ServiceConfiguration().alertRetention && service.announcementsPerSecond == 50)
            let set = ["CORDON_RETENTION_DAYS": "telemetry=3,alerts=9", "CORDON_ANNOUNCEMENTS_PER_SECOND": "70"]
            let other = try options.plan(environment: set).service
            #expect(other.telemetryRetention == .seconds(3 * 86_400) && other.alertRetention == .seconds(9 * 86_400))
            #expect(other.logRetention == .seconds(7 * 86_400) && other.announcementsPerSecond == 70)
            for wrong in ["telemetry", "telemetry=x", "nothing=3", "logs=0"] {
                #expect {
                    _ = try options.plan(environment: ["CORDON_RETENTION_DAYS": wrong])
                } throws: { status(of: $0) == .badInput }
            }
        }
    }

    @Test func `the apps that show what they are come from file and environment, and none means that none is asked`()
        throws
    {
        try withServeFolder { folder in
            let file = folder.appending(path: "service.json")
            try Data(#"{"appAttestApps": ["9XK3M7QW2P.org.example.notes"]}"#.utf8).write(to: file)
            let options = try ServeOptions.parse(["--config", file.path])
            let settings = try options.plan(environment: [:]).server.appAttest
            #expect(settings?.apps == ["9XK3M7QW2P.org.example.notes"] && settings?.allowsDevelopment == false)
            let environment = ["CORDON_APP_ATTEST_APPS": "A, B", "CORDON_APP_ATTEST_DEVELOPMENT": "true"]
            let other = try options.plan(environment: environment).server.appAttest
            #expect(other?.apps == ["A", "B"] && other?.allowsDevelopment == true)
            #expect(try ServeOptions.parse([]).plan(environment: [:]).server.appAttest == nil)
        }
    }

    @Test func `the environment wins over the file and a flag over the environment`() throws {
        try withServeFolder { folder in
            let file = folder.appending(path: "service.json")
            try Data(#"{"listen": "127.0.0.1:9001", "tenant": "contoso", "firstSignIn": "refuse"}"#.utf8).write(
                to: file)
            let environment = [
                "CORDON_TENANT": "fabrikam", "CORDON_ISSUERS": "https://a.example.test, https://b.example.test",
                "CORDON_LISTEN": "127.0.0.1:9002", "CORDON_BEHIND_PROXY": "true", "CORDON_FIRST_SIGN_IN": "create",
                "CORDON_DATABASE": "",
            ]
            let plan = try ServeOptions.parse(["--config", file.path, "--listen", "127.0.0.1:9003"])
                .plan(environment: environment)
            #expect(plan.server.port == 9003)
            #expect(plan.server.tenant.rawValue == "fabrikam")
            #expect(plan.server.issuers == ["https://a.example.test", "https://b.example.test"])
            #expect(plan.server.isBehindProxy && plan.service.createsPeopleAtSignIn)
            for (name, value) in [("CORDON_BEHIND_PROXY", "maybe"), ("CORDON_FIRST_SIGN_IN", "never")] {
                #expect {
                    _ = try ServeOptions.parse([]).plan(environment: [name: value])
                } throws: { error in
                    status(of: error) == .badInput && (error as? CommandFailure)?.message.contains(name) == true
                }
            }
        }
    }

    @Test func `the directory must be kept, or the provider decides who belongs`() throws {
        func creates(_ arguments: String...) throws -> Bool {
            try ServeOptions.parse(arguments).plan(environment: [:]).service.createsPeopleAtSignIn
        }
        #expect(try creates())
        #expect(try !creates("--directory", "people.json"))
        #expect(try creates("--directory", "people.json", "--first-sign-in", "create"))
        #expect(try !creates("--first-sign-in", "refuse"))
        #expect(try !creates("--development"))
    }

    @Test(arguments: [
        (#"{"logLevel": "loud"}"#, "logLevel", "warning"), (#"{"roles": {"g": ["ower"]}}"#, "roles.g[0]", "owner"),
        (#"{"firstSignIn": "never"}"#, "firstSignIn", "create, refuse"),
        (#"{"logFormat": "xml"}"#, "logFormat", "json"),
    ])
    func `a word that a setting does not know is refused, with the words that it knows`(
        _ text: String, _ place: String, _ value: String
    ) throws {
        try withServeFolder { folder in
            let file = folder.appending(path: "service.json")
            try Data(text.utf8).write(to: file)
            #expect {
                _ = try ServeConfigurationFile(path: file.path)
            } throws: { error in
                let failure = error as? CommandFailure
                return failure?.message.contains(place) == true && failure?.hint?.contains(value) == true
            }
        }
    }

    @Test func `the start says who may enrol, unless a directory decides it`() throws {
        let report = ServeReport(
            address: "https://mam.example.org", listening: "0.0.0.0:443", version: "1", tenant: "contoso",
            rootKey: "thumbprint", rootKeyIsHere: true, development: false, issuer: "https://id.example.org", process: 1
        )
        func lines(_ arguments: String...) throws -> [String] {
            report.lines(of: try ServeOptions.parse(arguments).plan(environment: [:]))
        }
        func tellsOfEnrolment(_ lines: [String]) -> Bool {
            lines.contains { $0.contains("may enrol") && $0.contains("--first-sign-in refuse") }
        }
        #expect(try tellsOfEnrolment(lines()))
        #expect(try tellsOfEnrolment(lines("--directory", "people.json", "--first-sign-in", "create")))
        for arguments in [["--first-sign-in", "refuse"], ["--directory", "people.json"], ["--development"]] {
            let plan = try ServeOptions.parse(arguments).plan(environment: [:])
            #expect(!tellsOfEnrolment(report.lines(of: plan)))
        }
        #expect(try lines().contains { $0.contains("thumbprint") && $0.contains("https://mam.example.org") })
        #expect(try lines().contains { $0.contains("keys export-root") })
        #expect(try !lines("--development").contains { $0.contains("keys export-root") })
        #expect(try lines("--development").contains { $0.contains("passwords.txt") })
        #expect(try !lines().contains { $0.contains("passwords") })
    }

    @Test func `a certificate without its key is an input error`() {
        #expect {
            _ = try ServeOptions.parse(["--tls-key", "key.pem"]).plan(environment: [:])
        } throws: { status(of: $0) == .badInput }
    }

    @Test func `a missing, a broken and a misspelt configuration are input errors that name the place`() throws {
        try withServeFolder { folder in
            let file = folder.appending(path: "service.json")
            #expect { _ = try ServeConfigurationFile(path: file.path) } throws: { status(of: $0) == .badInput }
            for (text, word) in [
                ("{", "JSON"), (#"{"listn": ""}"#, "listn"), (#"{"issuers": "x"}"#, "issuers"),
                (#"{"roles": {"west": ["reader", 1]}}"#, "roles.west[1]"),
            ] {
                try Data(text.utf8).write(to: file)
                #expect { _ = try ServeConfigurationFile(path: file.path) } throws: { error in
                    let failure = error as? CommandFailure
                    return failure?.status == .badInput && failure?.message.contains(word) == true
                        && failure?.hint != nil
                }
            }
        }
    }

    @Test func `a misspelt setting is answered with the one that was meant, and any other with all there are`() throws {
        try withServeFolder { folder in
            let file = folder.appending(path: "service.json")
            for (text, hint) in [
                (#"{"isuers": []}"#, "did you mean issuers?"),
                (#"{"colour": 1}"#, "use one of administrationAudiences, "),
                (#"{"issuers": [{"issuer": "https://a.test", "tokenType": "JWT"}]}"#, "did you mean tokenTypes?"),
            ] {
                try Data(text.utf8).write(to: file)
                #expect("\(text)") { _ = try ServeConfigurationFile(path: file.path) } throws: { error in
                    (error as? CommandFailure)?.hint?.hasPrefix(hint) == true
                }
            }
        }
    }

    @Test(arguments: ["nope", "http://login.example.org", "login.example.org", "https://", ""])
    func `an issuer that no provider can have is refused before the service starts`(issuer: String) throws {
        for environment in [[:], ["CORDON_TENANT": "contoso"]] {
            #expect { _ = try ServeOptions.parse(["--issuer", issuer]).plan(environment: environment) } throws: {
                error in
                let failure = error as? CommandFailure
                return failure?.status == .badInput && failure?.message.hasPrefix("issuers: ") == true
            }
        }
    }

    @Test func `a certificate that is missing is bad input, for which a supervisor does not start the service again`()
        async throws
    {
        let check = try ServeConfigCommand.Check.parse([
            "--offline", "--listen", "127.0.0.1:0", "--issuer", "https://login.example.test", "--tenant", "contoso",
            "--tls-certificate", "/nowhere/chain.pem", "--tls-key", "/nowhere/key.pem",
        ])
        await #expect { try await check.run() } throws: { error in
            let failure = error as? CommandFailure
            return failure?.status == .badInput && failure?.message.hasPrefix("/nowhere/chain.pem: ") == true
        }
    }

    @Test func `what is missing of provider and tenant is named, and nothing else`() throws {
        let issuer = ["--issuer", "https://login.example.test"]
        for (arguments, message) in [
            ([], "no OpenID provider and no tenant is configured"), (issuer, "no tenant is configured"),
            (["--tenant", "contoso"], "no OpenID provider is configured"),
        ] {
            let plan = try ServeOptions.parse(arguments).plan(environment: [:])
            #expect { try plan.requireProvider() } throws: { ($0 as? CommandFailure)?.message == message }
        }
        for arguments in [["--development"], issuer + ["--tenant", "contoso"]] {
            let plan = try ServeOptions.parse(arguments).plan(environment: [:])
            #expect(throws: Never.self) { try plan.requireProvider() }
        }
    }

    @Test func `numbers, words and the life of tokens come from file, environment and flag`() throws {
        try withServeFolder { folder in
            let file = folder.appending(path: "service.json")
            try Data(#"{"numericConflict": "recommended", "maxTokenSeconds": 900}"#.utf8).write(to: file)
            let fromFile = try ServeOptions.parse(["--config", file.path]).plan(environment: [:])
            #expect(fromFile.service.numericConflict == .recommended && fromFile.server.longestCheckInToken == 900)
            let environment = ["CORDON_NUMERIC_CONFLICT": "mostRestrictive", "CORDON_MAX_TOKEN_SECONDS": "600"]
            let plan = try ServeOptions.parse(["--config", file.path, "--max-token-seconds", "0"])
                .plan(environment: environment)
            #expect(plan.service.numericConflict == .mostRestrictive && plan.server.longestCheckInToken == nil)
            #expect {
                _ = try ServeOptions.parse(["--max-token-seconds", "5"]).plan(environment: [:])
            } throws: { status(of: $0) == .badInput }
        }
    }

    @Test func `where alerts go comes from file, environment and flag, and needs a secret`() throws {
        try withServeFolder { folder in
            let file = folder.appending(path: "service.json")
            try Data(#"{"alertWebhook": "https://a.example.test/x", "alertSecretFile": "/etc/a"}"#.utf8).write(to: file)
            let set = try ServeOptions.parse(["--config", file.path]).plan(environment: [:]).alerts
            #expect(set?.webhook.absoluteString == "https://a.example.test/x" && set?.secretFile.path == "/etc/a")
            let plan = try ServeOptions.parse(["--config", file.path, "--alert-secret-file", "/etc/c"])
                .plan(environment: [
                    "CORDON_ALERT_WEBHOOK": "https://b.example.test/", "CORDON_ALERT_SECRET_FILE": "/b",
                ])
            #expect(plan.alerts?.webhook.host() == "b.example.test" && plan.alerts?.secretFile.path == "/etc/c")
            #expect(try ServeOptions.parse([]).plan(environment: [:]).alerts == nil)
            #expect {
                _ = try ServeOptions.parse(["--alert-webhook", "https://a.example.test/"]).plan(environment: [:])
            } throws: { status(of: $0) == .badInput }
        }
    }

    @Test func `a check of the settings points out open metrics, an unset folder and a variable that is no setting`()
        throws
    {
        func settings(_ arguments: [String], _ environment: [String: String]) throws -> [String] {
            let plan = try ServeOptions.parse(arguments).plan(environment: environment)
            return ServeConfigCommand.Check.notes(on: plan, in: environment).map(\.setting)
        }
        try withServeFolder { folder in
            let kept = ["--data-directory", folder.path]
            for (arguments, environment, found) in [
                (kept, [:], []), (kept + ["--metrics", "127.0.0.1:9090"], [:], []),
                (kept + ["--metrics", "0.0.0.0:9090"], [:], ["metrics"]),
                (kept, ["CORDON_LISTN": "127.0.0.1:1"], ["CORDON_LISTN"]), ([], [:], ["dataDirectory"]),
            ] as [([String], [String: String], [String])] {
                let noted = try settings(arguments, environment)
                #expect(noted == found, "\(arguments)")
            }
        }
    }

    @Test func `a variable that looks like a setting but is not is found`() {
        let environment = [
            "CORDON_LISTEN": "", "CORDON_PUBLIC_URL": "", "CORDON_MAX_TOKEN_SECONDS": "", "CORDON_TLS_KEY": "",
            "CORDON_LISTN": "", "CORDON_PUBLICURL": "", "CORDON_ROLES": "", "PATH": "",
        ]
        let strangers = ServeConfigurationFile.strangers(in: environment)
        #expect(strangers == ["CORDON_LISTN", "CORDON_PUBLICURL", "CORDON_ROLES"], "roles are the file's alone")
    }
}
