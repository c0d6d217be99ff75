import CordonPolicy
import CordonTestSupport
import Foundation
import Testing

@testable import CordonCommand

/// Values that are kept elsewhere: how they are read, and that they are secret whatever they are called.
@Suite struct PolicySecretTests {
    private func file(_ pair: JSONValue) throws -> PolicyFile {
        let document: JSONValue = [
            "@odata.type": "#microsoft.graph.targetedManagedAppConfiguration", "displayName": "VPN",
            "customSettings": [pair],
        ]
        return try PolicyFile(Data(document.text().utf8), at: "configurations/vpn.json")
    }

    private func resolved(
        _ pair: JSONValue, in folder: URL = URL(filePath: "/nonexistent"), _ variables: [String: String] = [:]
    ) throws -> JSONValue? {
        try file(pair).resolved(in: folder, variables)["customSettings"]?.array?.first
    }

    @Test func `a value from elsewhere is marked secret, unless its name says so already`() throws {
        let reference: JSONValue = ["fromEnvironment": "VPN"]
        for mark in [[:], ["isSecret": false]] as [[String: JSONValue]] {
            let pair = JSONValue.object(mark.merging(["name": "licenceKey", "value": reference]) { $1 })
            let sent = try resolved(pair, ["VPN": "hunter2"])
            #expect(sent == ["name": "licenceKey", "value": "hunter2", "isSecret": true])
        }
        #expect(
            try resolved(["name": "vpnPassword", "value": reference], ["VPN": "hunter2"])
                == ["name": "vpnPassword", "value": "hunter2"])
        #expect(try resolved(["name": "server", "value": "a"]) == ["name": "server", "value": "a"])
    }

    @Test(arguments: ["CORDON_CLIENT_SECRET", "CORDON_TOKEN", "CORDON_ANYTHING"])
    func `no value is taken from the settings of the job itself`(variable: String) throws {
        let failure = #expect(throws: CommandFailure.self) {
            try resolved(
                ["name": "password", "value": ["fromEnvironment": .string(variable)]], [variable: "hunter2"])
        }
        #expect(failure?.status == .badInput && failure?.message.contains(variable) == true)
        #expect(failure?.message.contains("hunter2") == false)
    }

    @Test func `what stood in clear where a reference stands now is not shown`() throws {
        let file = try file(["name": "note", "value": ["fromEnvironment": "NOTE"]])
        let digest: JSONValue = ["name": "note", "value": "cordon-secret:01", "isSecret": true]
        let other: JSONValue = ["member": "customSettings[server]", "from": ["name": "server", "value": "a"]]
        let changes: JSONValue = [
            ["member": "customSettings[note]", "from": ["name": "note", "value": "hunter2"], "to": digest], other,
        ]
        let shown = file.hidingReferences(in: changes)
        #expect(shown?.text().contains("hunter2") == false)
        #expect(shown?.array?.first?["to"] == digest && shown?.array?.last == other)
    }

    private static let endings: [(String, String)] = [
        ("hunter2", "hunter2"), ("hunter2\n", "hunter2"), ("hunter2\r\n", "hunter2"), ("hunter2\n\n", "hunter2\n"),
        ("a\r\nb\r\n", "a\r\nb"), ("pässwörd\n", "pässwörd"), ("\u{FFFD}", "\u{FFFD}"), ("hunter2 ", "hunter2 "),
    ]

    @Test(arguments: endings)
    func `one line end after a secret in a file is not part of it`(text: String, secret: String) throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        try Data(text.utf8).write(to: folder.appending(path: "vpn"))
        let sent = try resolved(["name": "password", "value": ["fromFile": "vpn"]], in: folder)
        #expect(sent?["value"]?.string?.utf8.elementsEqual(secret.utf8) == true)
    }

    @Test func `a secret that is not UTF-8 is refused and not shown`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        try Data([0x70, 0xE4, 0x73, 0x73, 0xFF, 0x0D, 0x0A]).write(to: folder.appending(path: "vpn"))
        let failure = #expect(throws: CommandFailure.self) {
            try resolved(["name": "password", "value": ["fromFile": "vpn"]], in: folder)
        }
        #expect(failure?.status == .badInput && failure?.message.contains("vpn is not UTF-8") == true)
        #expect(failure?.message.contains("\u{FFFD}") == false)
    }
}
