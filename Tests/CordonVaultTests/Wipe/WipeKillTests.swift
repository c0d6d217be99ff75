import CordonBase
import CordonIdentity
import CordonTestSupport
import Foundation
import Testing

@testable import CordonVault

/// A child process wipes an account and is killed by another process at every step it logs; the next start ends the wipe.
struct WipeKillTests {
    /// A folder with two accounts' files, caches and temporary files, full of markers.
    private struct Scene {
        static let markers = (0..<1000).map { "planted-marker-\(String($0 * 7919, radix: 36))-of-ada" }
        let folder: URL
        var keys: FileKeyStore { FileKeyStore(directory: folder.appendingPathComponent("root")) }

        func vault() throws -> Vault {
            try Vault(
                directory: folder.appendingPathComponent("vault"), keyStore: keys,
                roots: [folder.appendingPathComponent("documents")])
        }

        func plant() async throws {
            let documents = folder.appendingPathComponent("documents")
            try FileManager.default.createDirectory(at: documents, withIntermediateDirectories: true)
            let vault = try vault()
            for account in ["ada@example.test", "ben@example.test"] as [AccountID] {
                try await vault.createAccountKey(for: account)
                for part in 0..<4 {
                    let file = try await vault.create(
                        documents.appendingPathComponent("\(account)-\(part)"), for: account, chunkSize: 4096)
                    let text = Self.markers[part * 250..<part * 250 + 250].joined(separator: "\n")
                    try file.write(Array(text.utf8), at: 0)
                    try file.sync()
                    try file.write(Array(text.utf8), at: 3000)
                    try file.close()
                }
                for directory in [vault.cacheDirectory(for: account), vault.temporaryDirectory(for: account)] {
                    try FileManager.default.createDirectory(
                        at: directory.appendingPathComponent("deeper"), withIntermediateDirectories: true)
                    try Data("made again".utf8).write(to: directory.appendingPathComponent("deeper/thumbnail"))
                }
            }
            try Data("token".utf8).write(to: folder.appendingPathComponent("token-of-ada"))
        }

        func attach(to vault: Vault) async {
            let folder = folder
            await vault.attach(.remove("tokens") { _ in [folder.appendingPathComponent("token-of-ada")] })
            await vault.attach(.run("app") { _ in .leaveFilesToCordon })
        }

        /// How many markers stand in any file of the folder.
        func found() throws -> Int {
            var all = Data()
            for path in folder.everythingBelow().paths where !path.isDirectory { all += try Data(contentsOf: path) }
            return Self.markers.count { all.range(of: Data($0.utf8)) != nil }
        }

        /// Every byte that belongs to the other account.
        func others() throws -> [String: Data] {
            var files: [String: Data] = [:]
            for path in folder.everythingBelow().paths where !path.isDirectory {
                let isOthers =
                    path.lastPathComponent.hasPrefix("ben")
                    || path.path.contains(AccountID("ben@example.test").fileName)
                if isOthers { files[path.path] = try Data(contentsOf: path) }
            }
            return files
        }
    }

    private func scene() throws -> Scene {
        let folder = try TemporaryFolder.make()
        return Scene(folder: folder.resolvingSymlinksInPath())
    }

    @Test func `a wipe leaves no planted marker and nothing of the account, and the control finds them all`()
        async throws
    {
        let scene = try scene()
        defer { try? FileManager.default.removeItem(at: scene.folder) }
        try await scene.plant()
        #expect(try scene.found() == 0)
        let control = scene.folder.appendingPathComponent("control")
        try Data(Scene.markers.joined().utf8).write(to: control)
        #expect(try scene.found() == 1000)
        try FileManager.default.removeItem(at: control)
        let before = try scene.others()
        let vault = try scene.vault()
        await scene.attach(to: vault)
        let report = try await vault.wipe("ADA@example.test")
        #expect(report.succeeded)
        #expect((report.files, report.caches, report.temporaryFiles, report.attachedFiles) == (4, 1, 1, 1))
        #expect(try scene.found() == 0)
        #expect(try scene.others() == before)
        let names = scene.folder.everythingBelow().paths.map(\.lastPathComponent)
        // Random names have those letters in a row now and then, and hardly alone.
        let words = names.flatMap { $0.lowercased().split { !$0.isLetter } }
        #expect(!words.contains("ada"))
    }

    @Test func `a wipe killed at any step is ended by the next start`() async throws {
        // The steps as an undisturbed wipe logs them; the child is killed at each in turn.
        let rehearsal = try scene()
        defer { try? FileManager.default.removeItem(at: rehearsal.folder) }
        try await rehearsal.plant()
        let vault = try rehearsal.vault()
        await rehearsal.attach(to: vault)
        let log = rehearsal.folder.appendingPathComponent("steps")
        _ = try await vault.wipe("ada@example.test") { step in append(step.kind.rawValue, to: log.path) }
        let steps = try String(contentsOf: log, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(Set(steps) == Set(WipeStep.Kind.allCases.map(\.rawValue)))

        for victim in steps.indices {
            let scene = try scene()
            defer { try? FileManager.default.removeItem(at: scene.folder) }
            try await scene.plant()
            let before = try scene.others()
            let path = scene.folder.path
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, victim = victim as Int] in
                let scene = Scene(folder: URL(fileURLWithPath: path))
                let vault = try scene.vault()
                await scene.attach(to: vault)
                _ = try await vault.wipe("ada@example.test") { step in
                    append(step.kind.rawValue, to: path + "/log")
                    let count = (try? String(contentsOfFile: path + "/log", encoding: .utf8))?.split(separator: "\n")
                        .count
                    if count == victim + 1 { Program.dieByAnotherHand() }
                }
            }
            let logged = try String(contentsOfFile: path + "/log", encoding: .utf8).split(separator: "\n").map(
                String.init)
            #expect(logged == Array(steps[...victim]))
            let next = try scene.vault()
            await scene.attach(to: next)
            let begun = victim > 0
            if begun {
                #expect(await code { try await next.unlock("ada@example.test") } != nil, "\(steps[victim])")
            }
            let isOver = steps[victim] == "finished"
            #expect(try await next.pendingWipes().count == (begun && !isOver ? 1 : 0), "\(steps[victim])")
            let resumed = try await next.resumeWipes()
            if begun {
                let report = try #require(isOver ? await next.finishedReports().first : resumed.first)
                #expect(report.succeeded, "\(steps[victim])")
                #expect(
                    (report.files, report.caches, report.temporaryFiles, report.attachedFiles) == (4, 1, 1, 1),
                    "\(steps[victim])")
                #expect(report.destroyedKeyIDs.count == 1)
                #expect(next.files(ownedBy: "ada@example.test").isEmpty)
            } else {
                try await next.unlock("ada@example.test")
            }
            #expect(try await next.pendingWipes().isEmpty)
            #expect(try scene.others() == before, "\(steps[victim])")
        }
    }

    @Test func `a wipe killed before it renames what it notes leaves nothing in the clear once it has ended`()
        async throws
    {
        let rehearsal = try scene()
        defer { try? FileManager.default.removeItem(at: rehearsal.folder) }
        try await rehearsal.plant()
        let vault = try rehearsal.vault()
        await rehearsal.attach(to: vault)
        let count = Locked(0)
        _ = try await DiskFaults.$next.withValue({ call in
            if call == "rename" { count.withLock { $0 += 1 } }
            return 0
        }) { try await vault.wipe("ada@example.test") }
        let renames = count.withLock { $0 }
        #expect(renames > 5)

        for victim in 1...max(renames, 1) {
            let scene = try scene()
            defer { try? FileManager.default.removeItem(at: scene.folder) }
            try await scene.plant()
            let path = scene.folder.path
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, victim = victim as Int] in
                let scene = Scene(folder: URL(fileURLWithPath: path))
                let vault = try scene.vault()
                await scene.attach(to: vault)
                let count = Locked(0)
                _ = try await DiskFaults.$next.withValue({ call in
                    if call == "rename",
                        count.withLock({
                            $0 += 1; return $0 == victim
                        })
                    {
                        Program.dieByAnotherHand()
                    }
                    return 0
                }) { try await vault.wipe("ada@example.test") }
            }
            let next = try scene.vault()
            await scene.attach(to: next)
            // Before its first note a wipe has not begun.
            if try await next.resumeWipes().isEmpty { _ = try await next.wipe("ada@example.test") }
            try await next.discardReport(for: "ada@example.test")
            let left = try FileManager.default.contentsOfDirectory(
                atPath: next.directory.appendingPathComponent("wipes").path)
            #expect(left.isEmpty, "killed before rename \(victim)")
        }
    }
}

/// Adds a line to a file, so that a process that dies has said where.
private func append(_ line: String, to path: String) {
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
    _ = (line + "\n").withCString { write(descriptor, $0, strlen($0)) }
    close(descriptor)
}
