import ArgumentParser
import CordonServiceHTTP
import CordonTestSupport
import Foundation
import Testing

@testable import CordonCommand

/// What is shown of addresses: no password before a host, and no token of a receiver after it.
@Suite struct ShownAddressTests {
    private static let secret = "hunter2"

    private func words(of body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch let failure as CommandFailure {
            return failure.message + (failure.hint ?? "")
        } catch {
            return "\(error)"
        }
    }

    private static let flawed = [
        "https://ada:hunter2@mam.example.org", "https://:hunter2@mam.example.org/x", "http://ada:hunter2@127.0.0.1",
        "https://ada:hun/hunter2@mam.example.org", "ada:hunter2@mam.example.org", "https://ada:hunter2@", "//hunter2@x",
        "ada:hunter2@mam.example.org:443",
    ]

    @Test(arguments: flawed)
    func `a setting with a user name or password is refused by every command and not shown`(address: String) throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let serve = [
            ["--issuer", address], ["--public-url", address], ["--console-origin", address], ["--listen", address],
            ["--metrics", address], ["--alert-webhook", address, "--alert-secret-file", "/x"],
        ]
        for options in serve {
            let said = words {
                _ = try ServeOptions.parse(["--development", "--data-directory", folder.path] + options)
                    .plan(environment: [:])
            }
            #expect(said?.contains(Self.secret) == false, "\(options)")
        }
        for variable in ["CORDON_ISSUERS", "CORDON_PUBLIC_URL", "CORDON_CONSOLE_ORIGIN", "CORDON_AUDIT_WEBHOOK"] {
            var environment = [variable: address]
            if variable == "CORDON_AUDIT_WEBHOOK" { environment["CORDON_AUDIT_SECRET_FILE"] = "/x" }
            let said = words { _ = try ServeOptions.parse([]).plan(environment: environment) }
            #expect(said?.contains(Self.secret) == false, "\(variable)")
        }
        let broker = [
            ["--issuer", address], ["--issuer", "https://id.example.org", "--service", address],
        ]
        for options in broker {
            let said = words { _ = try BrokerOptions.parse(["--socket", "/tmp/b.sock"] + options).plan() }
            #expect(said?.contains(Self.secret) == false, "\(options)")
        }
        let service = words { _ = try ServiceOptions.address(address) }
        #expect(service?.contains(Self.secret) == false)
    }

    @Test(arguments: ["https://mam.example.org?key=hunter2", "https://mam.example.org/#hunter2"])
    func `a service's address has no query, which would stand in the lock and in plans`(address: String) {
        #expect(words { _ = try ServiceOptions.address(address) }?.contains(Self.secret) == false)
    }

    @Test func `addresses without a password are taken as before`() throws {
        let plan = try ServeOptions.parse([
            "--issuer", "https://id.example.org/@tenant", "--public-url", "https://mam.example.org/a",
            "--console-origin", "https://console.example.org", "--data-directory", "/tmp/x",
        ]).plan(environment: [:])
        #expect(plan.server.issuers == ["https://id.example.org/@tenant"])
        #expect(ShownAddress.quoted("x") == "“x”")
    }

    private static let receivers = [
        ("https://hooks.example.org/services/hunter2", "https://hooks.example.org/(redacted)"),
        ("https://hooks.example.org:8443?key=hunter2", "https://hooks.example.org:8443/(redacted)"),
        ("https://ada:hunter2@hooks.example.org", "https://hooks.example.org"),
        ("https://hooks.example.org/", "https://hooks.example.org"),
    ]

    @Test(arguments: receivers)
    func `of a receiver's address the host is shown`(address: String, shown: String) throws {
        #expect(ShownAddress.origin(try #require(URL(string: address))) == shown)
    }

    @Test(.enabled(if: builtCordon != nil, "needs the program"))
    func `the check of a service's settings shows no token of a receiver`() throws {
        let cordon = try #require(builtCordon)
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let secret = folder.appending(path: "secret")
        try Data("whsec_\(Data(count: 32).base64EncodedString())".utf8).write(to: secret)
        #expect(chmod(secret.path, 0o600) == 0)
        let checked = try Program.run(
            cordon.path,
            ["serve", "config", "check", "--development", "--data-directory", folder.appending(path: "data").path],
            environment: [
                "CORDON_ALERT_WEBHOOK": "https://127.0.0.1:9/hooks/hunter2?key=hunter2",
                "CORDON_ALERT_SECRET_FILE": secret.path,
                "CORDON_AUDIT_WEBHOOK": "https://127.0.0.1:9/hunter2", "CORDON_AUDIT_SECRET_FILE": secret.path,
            ])
        #expect(checked.status == 0, "\(checked.everything)")
        #expect(checked.text.contains("https://127.0.0.1:9/(redacted)") && !checked.everything.contains(Self.secret))
    }
}
