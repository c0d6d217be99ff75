import Cordon
import CordonIdentity
import CordonTestSupport
import Foundation
import Testing

@testable import CordonVault

/// A home whose files the version before made opens, and takes the present form.
@Suite(.timeLimit(.minutes(10))) struct CarryingOverTests {
    private static let texts = [
        "one": Data("first".utf8), "two": Data((0..<40_000).map { UInt8(truncatingIfNeeded: $0) }),
    ]

    /// The folder of the device's one account.
    private func folder(of device: Device) throws -> URL {
        device.folder.appending(path: "data/files").appending(path: try #require(device.files(in: "files").first))
    }

    private func names(in folder: URL) throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
    }

    @Test func `a home of the version before opens, and its files take the present form`() async throws {
        let device = try Device()
        let account = device.account.id
        let before = try await device.enrolled()
        let folder = try folder(of: device)
        let files = try await FormerFolder.fill(
            folder, of: account, with: Self.texts, in: before.files.vault(of: account))
        // They are read and listed as they are.
        #expect(try await before.files.names(of: account) == ["one", "two"])
        for (name, text) in Self.texts { #expect(try await before.files.read(name, of: account) == text) }
        #expect(try names(in: folder) == Set(files.values).union(["index"]))

        let protection = try await device.start()
        // Waits for its turn, which comes after they were carried over.
        try await protection.files.write(Data("third".utf8), as: "three", of: account)
        let names = try names(in: folder)
        #expect(names.count == 4 && names.contains("directory"))
        #expect(names.isDisjoint(with: files.values) && !names.contains("index"))
        #expect(try await protection.files.names(of: account) == ["one", "three", "two"])
        for (name, text) in Self.texts { #expect(try await protection.files.read(name, of: account) == text) }
        let restarted = try await device.start()
        #expect(try await restarted.files.read("two", of: account) == Self.texts["two"])
    }

    @Test
    func `a file of the version before is removed before it was carried over, and one that is gone is not listed`()
        async throws
    {
        let device = try Device()
        let account = device.account.id
        let protection = try await device.enrolled()
        let folder = try folder(of: device)
        let files = try await FormerFolder.fill(
            folder, of: account, with: ["a": Data("a".utf8), "b": Data("b".utf8), "c": Data("c".utf8)],
            in: protection.files.vault(of: account))
        try await protection.files.remove("a", of: account)
        try FileManager.default.removeItem(at: folder.appending(path: try #require(files["b"])))
        #expect(try await protection.files.names(of: account) == ["c"])
        try await protection.files.write(Data("d".utf8), as: "d", of: account)
        #expect(try await protection.files.names(of: account) == ["c", "d"])
        #expect(try await protection.files.read("c", of: account) == Data("c".utf8))
    }

    @Test func `what is damaged when it is carried over stays listed and refused, and nothing foreign is sealed`()
        async throws
    {
        let device = try Device()
        let account = device.account.id
        let protection = try await device.enrolled()
        let folder = try folder(of: device)
        let files = try await FormerFolder.fill(
            folder, of: account,
            with: ["cut": Data("cut".utf8), "plain": Data("plain".utf8), "whole": Data("whole".utf8)],
            in: protection.files.vault(of: account))
        let cut = folder.appending(path: try #require(files["cut"]))
        try Data(contentsOf: cut).dropLast().write(to: cut)
        try Data("readable".utf8).write(to: folder.appending(path: try #require(files["plain"])))
        try await protection.files.write(Data("new".utf8), as: "new", of: account)
        #expect(try names(in: folder).isDisjoint(with: files.values))
        #expect(try await protection.files.names(of: account) == ["cut", "new", "plain", "whole"])
        for name in ["cut", "plain"] {
            await #expect(throws: ProtectionError(.vault, "")) { try await protection.files.read(name, of: account) }
        }
        #expect(try await protection.files.read("whole", of: account) == Data("whole".utf8))
        // As after a kill that left a file in both places, of which the former one is damaged since.
        let again = try await FormerFolder.fill(
            folder, of: account, with: ["whole": Data("other".utf8)], in: protection.files.vault(of: account))
        let former = folder.appending(path: try #require(again["whole"]))
        try Data(contentsOf: former).dropLast().write(to: former)
        try await protection.files.write(Data("newer".utf8), as: "new", of: account)
        #expect(try await protection.files.read("whole", of: account) == Data("whole".utf8))
        #expect(try names(in: folder).isDisjoint(with: again.values))
    }

    @Test func `a name that no header holds is carried over all the same, and holes stay holes`() async throws {
        let device = try Device()
        let account = device.account.id
        let protection = try await device.enrolled()
        let folder = try folder(of: device)
        let long = String(repeating: "näme ", count: 400)
        let vault = try await protection.files.vault(of: account)
        let files = try await FormerFolder.fill(folder, of: account, with: [long: Data("l".utf8)], in: vault)
        let path = folder.appending(path: try #require(files[long]))
        let writer = try await vault.open(path, writing: true)
        try writer.truncate(to: 1 << 27)
        try writer.close()
        let file = try await protection.files.open(long, of: account, writing: true)
        #expect(try file.size() == 1 << 27)
        for name in try names(in: folder) { #expect(folder.appending(path: name).bytesOnDisk < 1 << 21) }
        try file.truncate(to: 1)
        try file.close()
        #expect(try await protection.files.read(long, of: account) == Data("l".utf8))
        #expect(try await protection.files.names(of: account).count == 1)
        #expect(!FileManager.default.fileExists(atPath: path.path))
    }

    @Test func `a writer that has a former file open keeps it from being carried over, and loses nothing`() async throws
    {
        let device = try Device()
        let account = device.account.id
        let protection = try await device.enrolled()
        let folder = try folder(of: device)
        let vault = try await protection.files.vault(of: account)
        let files = try await FormerFolder.fill(folder, of: account, with: Self.texts, in: vault)
        let writer = try await vault.open(folder.appending(path: try #require(files["one"])), writing: true)
        await #expect(throws: ProtectionError(.vault, "")) {
            try await protection.files.write(Data("x".utf8), as: "x", of: account)
        }
        #expect(try await protection.files.names(of: account) == ["one", "two"])
        try writer.replaceContents(with: Data("changed".utf8))
        try writer.close()
        try await protection.files.write(Data("x".utf8), as: "x", of: account)
        #expect(try await protection.files.read("one", of: account) == Data("changed".utf8))
        #expect(try await protection.files.read("two", of: account) == Self.texts["two"])
    }

    // MARK: Kills

    /// A lasting folder of version 1 with a vault of its own, for a process that dies at work.
    private struct Scene {
        static let account: AccountID = "oid-a"
        let place: URL
        var folder: SealedFolder { SealedFolder(place.appending(path: "files"), of: Self.account) }
        var log: String { place.appending(path: "log").path }

        func vault() async throws -> Vault {
            let vault = try Vault(
                directory: place.appending(path: "vault"),
                keyStore: FileKeyStore(directory: place.appending(path: "root")), roots: [folder.url])
            try await vault.createAccountKey(for: Self.account)
            return vault
        }

        func fill() async throws {
            try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
            try await FormerFolder.fill(folder.url, of: Self.account, with: small, in: vault())
        }

        /// Carries over; each call that changes the disk is logged, and before the one with this number the process is killed.
        func carryOver(killedAt victim: Int?) async throws {
            let (log, vault) = (log, try await vault())
            try await DiskFaults.$next.withValue({ call in
                guard !["open", "read", "list", "lock"].contains(call) else { return 0 }
                if append(call, to: log) == victim { Program.dieByAnotherHand() }
                return 0
            }) { try await vault.carryOver(folder) }
        }

        func check(_ about: String) async throws {
            let vault = try await vault()
            #expect(try await vault.names(in: folder) == small.keys.sorted(), "\(about)")
            for (name, text) in small {
                #expect(try await vault.open(name, in: folder, writing: false).contents() == text, "\(about)")
            }
        }
    }

    private func scene() async throws -> Scene {
        let scene = Scene(place: TemporaryFolder.newPath(inMemory: true))
        try await scene.fill()
        return scene
    }

    @Test func `carrying over killed before any change of the disk loses nothing, and the next start ends it`()
        async throws
    {
        let rehearsal = try await scene()
        defer { try? FileManager.default.removeItem(at: rehearsal.place) }
        try await rehearsal.check("as before")
        try await rehearsal.carryOver(killedAt: nil)
        try await rehearsal.check("undisturbed")
        let calls = try String(contentsOfFile: rehearsal.log, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(Set(calls).isSuperset(of: ["create", "write", "sync", "rename", "unlink"]))
        for victim in 1...calls.count {
            let scene = try await scene()
            defer { try? FileManager.default.removeItem(at: scene.place) }
            let place = scene.place.path
            await #expect(processExitsWith: .signal(SIGKILL)) { [place = place as String, victim = victim as Int] in
                try await Scene(place: URL(filePath: place)).carryOver(killedAt: victim)
            }
            let logged = try String(contentsOfFile: scene.log, encoding: .utf8).split(separator: "\n").map(String.init)
            #expect(logged == Array(calls[..<victim]), "call \(victim)")
            try await scene.check("killed at \(victim), \(calls[victim - 1])")
            try await scene.carryOver(killedAt: nil)
            try await scene.check("ended after \(victim)")
            let left = try names(in: scene.folder.url)
            #expect(left.count == small.count + 1 && left.contains("directory"), "\(victim): \(left)")
        }
    }
}

private let small = ["one": Data("first".utf8), "two": Data("second".utf8)]

/// Adds a line to a file, so that a process that dies has said where; how many lines there are then.
private func append(_ line: String, to path: String) -> Int {
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
    _ = (line + "\n").withCString { write(descriptor, $0, strlen($0)) }
    close(descriptor)
    return (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: "\n").count ?? 0
}
