import CordonDemo
import CordonProtocol
import Foundation
import Testing

@Suite struct ChildProcessTests {
    private let shell = URL(filePath: "/bin/sh")

    @Test func `lines, last words and status of a process are told`() async throws {
        let process = try ChildProcess(shell, ["-c", "echo one; echo two; echo trouble >&2; exit 7"])
        var lines: [String] = []
        for await line in process.lines { lines.append(line) }
        #expect(await process.wait() == 7)
        #expect(lines == ["one", "two"])
        #expect(await process.standardErrorTail == "trouble")
        process.send("too late")
    }

    @Test func `what is sent arrives, and a kill is told by its signal`() async throws {
        let process = try ChildProcess(shell, ["-c", "read word; echo \"got $word\"; exec sleep 600"])
        process.send("this")
        for await line in process.lines {
            #expect(line == "got this")
            process.signal(SIGKILL)
        }
        let status = await process.wait()
        #expect(status == -SIGKILL, "\(status)")
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd"), "needs /proc"))
    func `a process that has ended leaves no pipe open`() async throws {
        let runs = 60
        let before = try Self.pipes()
        for _ in 0..<runs {
            let process = try ChildProcess(shell, ["-c", "echo one"])
            for await _ in process.lines {}
            _ = await process.wait()
        }
        // Other tests start processes meanwhile; each of these would have left three.
        #expect(try Self.pipes() < before + runs)
    }

    /// How many descriptors of this process are pipes.
    private static func pipes() throws -> Int {
        let folder = "/proc/self/fd/"
        return try FileManager.default.contentsOfDirectory(atPath: folder).filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: folder + $0))?.hasPrefix("pipe:") == true
        }.count
    }

    @Test func `a program that is not there is an error with a hint`() {
        let error = #expect(throws: ProgramError.self) { try ChildProcess(URL(filePath: "/nowhere/none"), []) }
        #expect(error?.code == .failed && error?.reason == "none cannot be started" && error?.hint != nil)
    }
}
