import CordonIdentity
import CordonTestSupport
import Foundation
import Testing

@testable import CordonVault

/// A child process writes and syncs, telling of each sync that returned, until another process kills it (R7).
struct FileKillTests {
    @Test func `what was synced is there after a kill at any moment, and nothing is unreadable`() async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let path = folder.path
        let run = DeepRun(plain: 25, deep: 20_000)
        var (rounds, synced) = (0, 0)
        for round in run {
            rounds = round
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, round = round as Int] in
                try await writeUntilKilled(path, round)
            }
            let vault = try FileKillTests.vault(path)
            try await vault.unlock("ada@example.test")
            let log = (try? String(contentsOfFile: path + "/acknowledged", encoding: .utf8)) ?? "0"
            let acknowledged = log.split(separator: "\n").compactMap { UInt8($0) }.last ?? 0
            let file = URL(fileURLWithPath: path + "/file")
            guard FileManager.default.fileExists(atPath: file.path) else { continue }
            let content = try await vault.open(file, writing: false).all()
            // Each commit fills the file with its number: all of it is of one commit, the last acknowledged or the next.
            #expect(Set(content).count <= 1, "round \(round)")
            if acknowledged > 0 {
                let value = try #require(content.first)
                #expect(
                    value == acknowledged || value == acknowledged &+ 1 || (acknowledged == 250 && value == 1),
                    "round \(round)")
                synced += 1
            }
        }
        #expect(synced > rounds / 2)
        run.finish("kills of the writer of one file")
    }

    static func vault(_ path: String) throws -> Vault {
        try Vault(
            directory: URL(fileURLWithPath: path + "/vault"),
            keyStore: FileKeyStore(directory: URL(fileURLWithPath: path + "/root")))
    }
}

/// Fills a file with the number of each commit, and says so when it is synced.
private func writeUntilKilled(_ path: String, _ round: Int) async throws {
    let vault = try FileKillTests.vault(path)
    try await vault.createAccountKey(for: "ada@example.test")
    let place = URL(fileURLWithPath: path + "/file")
    let file: SealedFile
    if FileManager.default.fileExists(atPath: place.path) {
        file = try await vault.open(place)
    } else {
        file = try await vault.create(place, for: "ada@example.test", chunkSize: 4096)
    }
    let log = open(path + "/acknowledged", O_WRONLY | O_APPEND | O_CREAT, 0o600)
    var value = try file.read(1, at: 0).first ?? 0
    // What an earlier process committed and was killed before saying counts as said from here on.
    _ = "\(value)\n".withCString { write(log, $0, strlen($0)) }
    var isFirst = true
    while true {
        // The first process lives until it has said something, however slow the machine is.
        if round > 1, isFirst { try Program.killThisProcess(after: .milliseconds(round * 37 % 90 + 10)) }
        value = value >= 250 ? 1 : value + 1
        let size = 4096 * (1 + Int(value) % 40) + Int(value)
        try file.truncate(to: Int64(size))
        try file.write([UInt8](repeating: value, count: size), at: 0)
        try file.sync()
        _ = "\(value)\n".withCString { write(log, $0, strlen($0)) }
        if round == 1, isFirst { try Program.killThisProcess(after: .milliseconds(10)) }
        isFirst = false
    }
}
