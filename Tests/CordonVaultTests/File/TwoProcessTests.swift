import CordonBase
import CordonIdentity
import CordonTestSupport
import Foundation
import Testing

@testable import CordonVault

/// Two processes at one file, as fast as both can.
@Suite(.tags(.machineAlone)) struct TwoProcessTests {
    private static let owner = AccountID("ada@example.test")

    /// A folder with a vault, and another process that is busy there until the work is done.
    private func beside(
        _ other: @escaping @Sendable (_ folder: String) async -> ExitTest.Result?,
        work: (URL, Vault) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let vault = try FileKillTests.vault(folder.path)
        try await vault.createAccountKey(for: Self.owner)
        let file = try await vault.create(folder.appendingPathComponent("file"), for: Self.owner)
        try file.write([UInt8](repeating: 1, count: 1 << 20), at: 0)
        try file.close()
        async let ended = other(folder.path)
        do {
            try await work(folder, vault)
        } catch {
            Issue.record(error)
        }
        _ = FileManager.default.createFile(atPath: folder.path + "/stop", contents: nil)
        _ = await ended
    }

    @Test func `while a writer has a file its path names it, whatever another process makes there`() async throws {
        try await beside { folder in
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                try await untilStopped(folder) { vault, path in
                    try await vault.create(path, for: "ada@example.test").close()
                }
            }
        } work: { folder, vault in
            let path = folder.appendingPathComponent("file")
            var opened = 0
            while opened < 200 {
                guard let file = try? await vault.open(path) else { continue }
                opened += 1
                let id = try #require(file.header?.fileID.hex)
                try file.write([7], at: 0)
                try file.sync()
                #expect(try Vault.inspect(path).fileID == id)
                try file.close()
            }
        }
    }

    @Test func `every copy of a file that another process writes holds one of its commits`() async throws {
        try await beside { folder in
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                try await untilStopped(folder) { vault, path in
                    let file = try await vault.open(path)
                    for value in 0..<20 as Range<UInt8> {
                        try file.write([UInt8](repeating: value, count: 1 << 20), at: 0)
                        try file.sync()
                    }
                    try file.close()
                }
            }
        } work: { folder, vault in
            let (path, copy) = (folder.appendingPathComponent("file"), folder.appendingPathComponent("copy"))
            var (tried, copied) = (0, 0)
            // Which of the two finds the file free is chance.
            let end = ContinuousClock.now + .seconds(300)
            while tried < 30 || copied == 0 && ContinuousClock.now < end {
                tried += 1
                do {
                    try await vault.copy(path, to: copy)
                } catch {
                    // Refused with a reason; the copy of before stays.
                    #expect((error as? VaultError)?.code == .inUse)
                    continue
                }
                copied += 1
                let values = Set(try await vault.open(copy, writing: false).all())
                #expect(values.count == 1)
            }
            #expect(copied > 0)
        }
    }
}

/// Does something again and again until the other process says that it is enough; refusals are part of it.
private func untilStopped(_ folder: String, _ body: (Vault, URL) async throws -> Void) async throws {
    let vault = try FileKillTests.vault(folder)
    try await vault.unlock("ada@example.test")
    while !FileManager.default.fileExists(atPath: folder + "/stop"), getppid() != 1 {
        do { try await body(vault, URL(fileURLWithPath: folder + "/file")) } catch let error as VaultError {
            guard error.code == .inUse else { throw error }
        }
    }
}
