import ArgumentParser
import CordonTestSupport
import Foundation
import Testing

@testable import CordonCommand

/// Which addresses of a service a command takes.
@Suite struct ServiceOptionsTests {
    @Test(arguments: [
        "http://ada:secret@127.0.0.1:1", "https://ada:secret@mam.example.org", "https://:secret@x.example",
    ])
    func `an address with a password is refused and not shown`(address: String) async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let token = folder.appending(path: "token")
        try Data("a.b.c".utf8).write(to: token)
        let options = try ServiceOptions.parse(["--service", address, "--token", token.path])
        do {
            _ = try await options.withClient { _ in true }
            Issue.record("the address was taken")
        } catch let failure as CommandFailure {
            #expect(failure.status == .usage)
            #expect(!failure.message.contains("secret") && failure.hint?.contains("secret") != true)
        }
        // The control: without them it is taken.
        let plain = try ServiceOptions.parse(["--service", "http://127.0.0.1:1", "--token", token.path])
        let isTaken = try await plain.withClient { _ in true }
        #expect(isTaken)
    }
}
