import Foundation
import Testing

@testable import CordonAppTools

/// SI-149: what a host's association file has to say before an extension may answer for it.
struct SignOnAssociationTests {
    private func wanted(_ change: (inout ConfigurationProfile.SignOn) -> Void = { _ in }) throws -> [SignOnAssociation]
    {
        var request = ConfigurationProfile.SignOn(identifier: "org.example.sign-on")
        request.extensionIdentifier = "org.example.broker.sso"
        request.urls = ["https://ID.example.org/a", "https://id.example.org/b", "https://two.example.org"]
        change(&request)
        return SignOnAssociation.wanted(by: try ConfigurationProfile(request, names: .cordon).value)
    }

    @Test func `each host of a profile is asked once, at the well-known address`() throws {
        let wanted = try wanted()
        #expect(wanted.map(\.host) == ["id.example.org", "two.example.org"])
        #expect(
            wanted.first?.address?.absoluteString
                == "https://id.example.org/.well-known/apple-app-site-association")
        #expect(try self.wanted { $0.team = "ABCDE12345" }.first?.team == "ABCDE12345")
    }

    @Test(arguments: [
        (#"{"authsrv": {"apps": ["ABCDE12345.org.example.broker.sso"]}}"#, true),
        (
            #"{"applinks": {"details": []}, "authsrv": {"apps": ["X.org.other", "ABCDE12345.org.example.broker"]}}"#,
            true
        ),
        (#"{"authsrv": {"apps": ["OTHER12345.org.example.broker.sso"]}}"#, false),
        (#"{"authsrv": {"apps": ["ABCDE12345.org.example.brok"]}}"#, false),
        (#"{"authsrv": {"apps": ["ABCDE12345.org.example.broker.sso.more"]}}"#, false),
        (#"{"authsrv": {"apps": []}}"#, false), (#"{"applinks": {}}"#, false), ("<html>", false),
        (#"{"authsrv": {"apps": "ABCDE12345.org.example.broker.sso"}}"#, false),
    ])
    func `only the extension or its app, of the same team, is let through`(file: String, isNamed: Bool) throws {
        let association = try #require(try wanted { $0.team = "ABCDE12345" }.first)
        let findings = association.findings(.file(Data(file.utf8)), path: "p")
        #expect(findings.isEmpty == isNamed)
        #expect(findings.allSatisfy { $0.severity == .error && $0.code == "MC-HOST" })
    }

    @Test func `without a team the name alone is compared, and no file is no consent`() throws {
        let association = try #require(try wanted().first)
        let file = Data(#"{"authsrv": {"apps": ["ANY.org.example.broker.sso"]}}"#.utf8)
        #expect(association.findings(.file(file), path: "p").isEmpty)
        for answer in [SignOnAssociation.Answer.status(404), .status(301), .none("no network")] {
            #expect(association.findings(answer, path: "p").count == 1, "\(answer)")
        }
    }
}
