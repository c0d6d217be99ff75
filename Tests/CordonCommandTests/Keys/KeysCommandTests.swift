import ArgumentParser
import CordonService
import CordonServiceSQLite
import Foundation
import Logging
import Testing

@testable import CordonCommand

/// `cordon keys`: for whom keys are made, and as whom.
@Suite struct KeysCommandTests {
    /// The folder of a service that has run for the organisation `contoso`.
    private func withService(_ body: (URL, _ files: () throws -> [String]) async throws -> Void) async throws {
        try await withServeFolder { folder in
            let data = folder.appending(path: "data", directoryHint: .isDirectory)
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let plan = try ServeOptions.parse([
                "--issuer", "https://login.example.test", "--tenant", "contoso", "--data-directory", data.path,
            ]).plan(environment: [:])
            let running = try await RunningService.open(plan, logger: logger)
            await running.close(logger: logger)
            try await body(data) {
                try FileManager.default.subpathsOfDirectory(atPath: data.appending(path: "keys").path).sorted()
            }
        }
    }

    private func failure(of words: [String]) async -> CommandFailure? {
        do {
            var command = try KeysCommand.parseAsRoot(words)
            if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
            return nil
        } catch {
            return error as? CommandFailure
        }
    }

    @Test func `an organisation that the store does not know gets no key, and loses none`() async throws {
        try await withService { data, files in
            let (before, target) = (try files(), data.path + ".root")
            let place = ["--data-directory", data.path]
            for words in [["request"], ["export-root", "--to", target]] {
                let refused = await failure(of: words + place + ["--tenant", "contos0"])
                #expect(refused?.status == .refused && refused?.message.contains("contoso") == true, "\(words)")
            }
            #expect(try files() == before && !FileManager.default.fileExists(atPath: target))
            for tenant in [[], ["--tenant", "contoso"]] {
                #expect(await failure(of: ["request"] + place + tenant) == nil)
            }
            #expect(try files().count == before.count + 2, "the control")
            #expect(await failure(of: ["export-root", "--to", target] + place) == nil)
            #expect(try files().count == before.count + 1 && FileManager.default.fileExists(atPath: target))
        }
    }

    @Test func `where there is no store none is made, and no key`() async throws {
        try await withServeFolder { folder in
            let target = folder.path + ".root"
            for words in [["request"], ["export-root", "--to", target]] {
                for data in [folder, folder.appending(path: "mistyped")] {
                    let refused = await failure(of: words + ["--data-directory", data.path, "--tenant", "contoso"])
                    #expect(refused?.status == .badInput, "\(words)")
                }
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(left.isEmpty && !FileManager.default.fileExists(atPath: target))
        }
    }

    @Test func `a store in which no service has run yet is called that`() async throws {
        try await withServeFolder { folder in
            try SQLiteStorage(file: folder.appending(path: "service.sqlite")).close()
            for tenant in [[], ["--tenant", "contoso"]] {
                let refused = await failure(of: ["request", "--data-directory", folder.path] + tenant)
                #expect(refused?.status == .badInput && refused?.message.contains("no service has run") == true)
            }
        }
    }

    @Test(.enabled(if: geteuid() == 0, "needs root, who is most likely to do this"))
    func `another user than the service's writes nothing that the service could not read`() async throws {
        try await withService { data, files in
            let before = try files()
            #expect(chown(data.appending(path: "keys").path, 1, 1) == 0)
            #expect(await failure(of: ["request", "--data-directory", data.path])?.status == .refused)
            #expect(throws: CommandFailure.self) {
                try ServeApproveCommand.parse(["--data-directory", data.path, "a"]).run()
            }
            #expect(try files() == before && ApprovalFolder.approved(in: data) == [])
            // Nor makes the folder of the keys, where it is gone.
            let keys = data.appending(path: "keys")
            try FileManager.default.removeItem(at: keys)
            #expect(chown(data.appending(path: "service.sqlite").path, 1, 1) == 0)
            #expect(await failure(of: ["request", "--data-directory", data.path])?.status == .refused)
            #expect(!FileManager.default.fileExists(atPath: keys.path))
        }
    }
}
