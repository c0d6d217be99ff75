import CordonDemo
import CordonTestSupport
import Foundation
import Testing

/// Providers with habits that no recipe is about, written by the OpenID specifications in another language.
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct ForeignProviderTests {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Clients/foreign_providers.py")

    @Test(.enabled(if: Program.hasPython(with: "joserfc", "cryptography"), "needs joserfc and cryptography"))
    func `what the commands say of an unknown provider leads to a first check-in, and what comes near stays out`()
        async throws
    {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let process = try ChildProcess(
            URL(filePath: "/usr/bin/env"),
            [Program.python ?? "python3", "-B", Self.script.path, Programs.cordon.path, folder.path])
        var said: [String] = []
        for await line in process.lines { said.append(line) }
        let status = await process.wait()
        let words = await process.standardErrorTail
        #expect(status == 0, "\(said.suffix(5)) \(words)")
        #expect(said.last == "every expectation held")
    }
}
