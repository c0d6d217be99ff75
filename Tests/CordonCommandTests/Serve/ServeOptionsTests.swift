import ArgumentParser
import CordonIdentity
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
    func `what is no address is a usage error`(_ text: String) {
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

    @Test func `a missing, a broken and a misspelt configuration are input errors that name the place`() throws {
        try withServeFolder { folder in
            let file = folder.appending(path: "service.json")
            #expect { _ = try ServeConfigurationFile(path: file.path) } throws: { status(of: $0) == .badInput }
            for (text, word) in [("{", "JSON"), (#"{"listn": ""}"#, "listn"), (#"{"issuers": "x"}"#, "issuers")] {
                try Data(text.utf8).write(to: file)
                #expect { _ = try ServeConfigurationFile(path: file.path) } throws: { error in
                    let failure = error as? CommandFailure
                    return failure?.status == .badInput && failure?.message.contains(word) == true
                        && failure?.hint != nil
                }
            }
        }
    }
}
