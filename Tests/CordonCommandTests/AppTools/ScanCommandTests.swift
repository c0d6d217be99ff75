import ArgumentParser
import CordonTestSupport
import Foundation
import Testing

@testable import CordonCommand

/// `cordon scan` by its exit status.
struct ScanCommandTests {
    private func status(_ arguments: String...) throws -> CordonCommand.ExitStatus? {
        let command = try ScanCommand.parse(arguments)
        do {
            try command.run()
            return .done
        } catch { return (error as? CommandFailure)?.status }
    }

    @Test func `a scan ends with the status that its findings, its baseline and its inputs ask for`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let source = folder.appending(path: "Store.swift")
        try Data("try data.write(to: place)\n".utf8).write(to: source)
        #expect(try status(folder.path) == .notInWantedState)
        #expect(try status(folder.path, "--fail-on", "error") == .done)
        #expect(try status(folder.path, "--fail-on", "never", "--json") == .done)
        let baseline = folder.appending(path: "baseline.json").path
        #expect(try status(folder.path, "--baseline", baseline) == .badInput)
        #expect(try status(folder.path, "--write-baseline", baseline) == .done)
        #expect(try status(folder.path, "--baseline", baseline) == .done)
        #expect(try status(folder.path, "--write-baseline", source.path + "/baseline.json") == .writeFailed)
        let pipe = folder.appending(path: "pipe").path
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(try status(folder.path, "--write-baseline", pipe) == .refused)
        #expect(try FileManager.default.attributesOfItem(atPath: pipe)[.type] as? FileAttributeType != .typeRegular)
        try Data("[]".utf8).write(to: URL(filePath: baseline))
        #expect(try status(folder.path, "--baseline", baseline) == .badInput)
        #expect(try status(folder.path + "/none") == .badInput)
        #expect(try status(folder.path, "--waivers", folder.path + "/none") == .badInput)
        try Data("file Store.swift — the file of a test\n".utf8).write(to: folder.appending(path: ".cordon-waivers"))
        #expect(try status(folder.path) == .done)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/Gone.swift", withDestinationPath: "/nowhere/at/all")
        #expect(try status(folder.path) == .badInput)
        #expect(throws: (any Error).self) { try ScanCommand.parse([folder.path, "--json", "--sarif"]) }
        #expect(throws: (any Error).self) { try ScanCommand.parse([]) }
        #expect(try status("--ways") == .done)
    }

    @Test func `a folder without sources is refused, for an empty report would pass for a clean one`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        #expect(try status(folder.path) == .badInput)
        try Data("try data.write(to: place)\n".utf8).write(to: folder.appending(path: "Store.txt"))
        #expect(try status(folder.path, "--fail-on", "never", "--json") == .badInput)
        try Data("NAME = Demo\n".utf8).write(to: folder.appending(path: "Demo.xcconfig"))
        #expect(try status(folder.path) == .badInput)
        try Data("let place = folder\n".utf8).write(to: folder.appending(path: "Store.swift"))
        #expect(try status(folder.path) == .done)
    }
}
