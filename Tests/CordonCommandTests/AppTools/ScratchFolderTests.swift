import CordonTestSupport
import Dispatch
import Foundation
import Testing

@testable import CordonCommand

/// What becomes of what a command unpacked.
@Suite struct ScratchFolderTests {
    @Test(arguments: [SIGHUP, SIGINT, SIGQUIT, SIGTERM])
    func `a command that is told to stop ends with the signal's status and leaves nothing behind`(
        _ number: Int32
    ) async throws {
        let place = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(place) }
        await #expect(processExitsWith: .exitCode(128 + number)) {
            [path = place.path as String, number = number as Int32] in
            // Who started the tests may ignore it.
            signal(number, SIG_DFL)
            let scratch = try ScratchFolder(in: URL(filePath: path))
            try Data(count: 1).write(to: scratch.url.appending(path: "app"))
            kill(getpid(), number)
            // The signal ends this long before.
            try await Task.sleep(for: .seconds(300))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == [])
    }

    /// As `nohup` has it for a hang-up, and a script for the keys of its terminal.
    @Test(arguments: [SIGHUP, SIGINT, SIGQUIT])
    func `a signal that is ignored ends nothing`(_ number: Int32) async throws {
        let place = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(place) }
        await #expect(processExitsWith: .exitCode(7)) {
            [path = place.path as String, number = number as Int32] in
            signal(number, SIG_IGN)
            let scratch = try ScratchFolder(in: URL(filePath: path))
            kill(getpid(), number)
            let isIgnored = ScratchFolder.isIgnored(number)
            scratch.remove()
            exit(isIgnored ? 7 : 1)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == [])
    }

    @Test func `a signal is heard from the first moment, and while the pool has no thread to give`() async throws {
        let place = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(place) }
        await #expect(processExitsWith: .exitCode(128 + SIGTERM)) { [path = place.path as String] in
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: 300)
                exit(1)
            }
            for _ in 0..<2 * ProcessInfo.processInfo.activeProcessorCount {
                DispatchQueue.global().async { while true {} }
            }
            let scratch = try ScratchFolder(in: URL(filePath: path))
            try Data(count: 1).write(to: scratch.url.appending(path: "app"))
            kill(getpid(), SIGTERM)
            while true { pause() }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == [])
    }

    @Test func `the folder is for this user alone, and goes with the work`() throws {
        let place = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(place) }
        let scratch = try ScratchFolder(in: place)
        let attributes = try FileManager.default.attributesOfItem(atPath: scratch.url.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
        try Data(count: 1).write(to: scratch.url.appending(path: "app"))
        scratch.remove()
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == [])
    }
}
