import CordonDemo
import CordonTestSupport
import Foundation
import Testing

/// What an operator sees when something is in the way: one line, a hint, the documented exit status.
@Suite(.tags(.machineAlone)) struct OperatorErrorTests {
    private func serve(_ arguments: [String]) async throws -> (status: Int32, words: String) {
        let process = try ChildProcess(Programs.cordon, ["serve"] + arguments)
        for await _ in process.lines {}
        let status = await process.wait()
        return (status, await process.standardErrorTail)
    }

    @Test func `a port in use is status 5 with a hint`() async throws {
        try await Programs.onStage { stage in
            let address = try await stage.runningService().address
            let (status, words) = try await serve([
                "--development", "--listen", "127.0.0.1:\(address.port ?? 0)", "--data-directory",
                stage.folder.appending(path: "second").path,
            ])
            #expect(status == 5)
            #expect(words.contains("\(address.port ?? 0)"))
        }
    }

    @Test func `the development provider refuses an address that others can reach`() async throws {
        try await Programs.onStage { stage in
            let (status, words) = try await serve([
                "--development", "--listen", "0.0.0.0:0", "--data-directory", stage.folder.appending(path: "x").path,
            ])
            #expect(status == 4)
            #expect(words.contains("127.0.0.1"), "the hint says what would work")
        }
    }

    @Test func `a data folder that is a file, and a config that is missing, are named`() async throws {
        try await Programs.onStage { stage in
            let file = stage.folder.appending(path: "file")
            try Data().write(to: file)
            let folder = try await serve(["--development", "--listen", "127.0.0.1:0", "--data-directory", file.path])
            #expect(folder.status == 5 || folder.status == 3)
            #expect(folder.words.contains(file.path))
            let missing = stage.folder.appending(path: "missing.json").path
            let config = try await serve(["--config", missing])
            #expect(config.status == 3)
            #expect(config.words.contains(missing))
        }
    }

    @Test func `authorities that a broker cannot read are bad input`() async throws {
        let missing = TemporaryFolder.newPath().path
        let process = try ChildProcess(
            Programs.cordon,
            [
                "broker", "run", "--development", "--issuer", "http://127.0.0.1:1", "--ca", missing, "--socket",
                missing + ".sock", "--data-directory", missing,
            ])
        for await _ in process.lines {}
        #expect(await process.wait() == 3)
        #expect(await process.standardErrorTail.contains("--ca: "))
    }

    @Test func `a wrong command line of the board is status 2, and no terminal obeys what is in it`() async throws {
        let process = try ChildProcess(Programs.shiftBoard, ["--socket", "x", "--no\u{1B}[2J\u{202E}"])
        for await _ in process.lines {}
        #expect(await process.wait() == 2)
        let words = await process.standardErrorTail
        #expect(words.contains(#"--no\u{1B}[2J\u{202E}"#) && !words.unicodeScalars.contains("\u{1B}"), "\(words)")
    }

    @Test func `a wrong command line is status 2`() async throws {
        let process = try ChildProcess(Programs.cordon, ["serve", "--no-such-flag"])
        for await _ in process.lines {}
        #expect(await process.wait() == 2)
    }
}
