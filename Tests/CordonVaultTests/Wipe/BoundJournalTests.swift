import CordonBase
import CordonIdentity
import CordonTestSupport
import Foundation
import Testing

@testable import CordonVault

/// A wipe with a binding believes what was noted under the same binding, and destroys the secrets whatever was noted.
struct BoundJournalTests {
    /// A vault with one sealed file, and a key store in files beside it.
    private struct Scene {
        let folder: URL
        let account: AccountID = "ada@example.test"
        var home: URL { folder.appendingPathComponent("home") }
        var store: URL { folder.appendingPathComponent("store") }

        func vault() throws -> Vault {
            try Vault(
                directory: home.appendingPathComponent("vault"), keyStore: FileKeyStore(directory: store),
                roots: [home],
                clock: { Date(timeIntervalSince1970: 1_800_000_000) })
        }

        /// Makes a key and a file; the key's id.
        func plant(in vault: Vault) async throws -> String {
            let keyID = try await vault.createAccountKey(for: account)
            let note = home.appendingPathComponent("note")
            let file = try await vault.create(note, for: account)
            try file.write([1, 2, 3], at: 0)
            try file.close()
            return keyID
        }

        func secrets() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: store.appendingPathComponent("secrets").path)
        }
    }

    private func scene() throws -> Scene { Scene(folder: try TemporaryFolder.make()) }

    @Test func `a wipe with a binding that is cut off after any step goes on, and names its key and its file once`()
        async throws
    {
        let scene = try scene()
        defer { TemporaryFolder.remove(scene.folder) }
        let vault = try scene.vault()
        let keyID = try await scene.plant(in: vault)
        let copies = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(copies) }
        let steps = Locked<[String]>([])
        _ = try await vault.wipe(scene.account, boundTo: "this") { step in
            let count = steps.withLock { steps in
                steps.append(step.kind.rawValue)
                return steps.count
            }
            try? FileManager.default.copyItem(at: scene.folder, to: copies.appendingPathComponent("\(count)"))
        }
        let names = steps.withLock { $0 }
        #expect(names.last == "finished" && names.count > 8)
        for (index, step) in names.enumerated() {
            let cut = Scene(folder: copies.appendingPathComponent("\(index + 1)"))
            let next = try cut.vault()
            let report = try await next.wipe(cut.account, boundTo: "this")
            #expect(report.succeeded && report.destroyedKeyIDs == [keyID] && report.files == 1, "\(step)")
            #expect(try !next.keepsKey(of: cut.account) && cut.secrets().isEmpty, "\(step)")
            #expect(await next.finishedReports().count == 1, "\(step)")
        }
    }

    /// What is noted of an earlier wipe: under a binding of its own, or under none, as earlier software noted it.
    @Test(arguments: ["json", "report"], ["earlier", nil] as [String?])
    func `what another wipe has noted is none of this one, and its secret goes although the record is aside`(
        end: String, binding: String?
    ) async throws {
        let scene = try scene()
        defer { TemporaryFolder.remove(scene.folder) }
        let vault = try scene.vault()
        let former = try await scene.plant(in: vault)
        let wipes = vault.directory.appending(path: "wipes")
        let kept = scene.folder.appendingPathComponent("kept")
        _ = try await vault.wipe(scene.account, boundTo: binding) { step in
            guard step.kind == (end == "json" ? .temporaryFilesRemoved : .finished) else { return }
            try? FileManager.default.copyItem(at: wipes, to: kept)
        }
        try await vault.discardReport(for: scene.account)
        _ = try await scene.plant(in: vault)
        let record = URL(fileURLWithPath: vault.records.path(of: scene.account))
        let intact = try Data(contentsOf: record)
        try FileManager.default.removeItem(at: record)
        try FileManager.default.removeItem(at: wipes)
        try FileManager.default.copyItem(at: kept, to: wipes)
        let next = try scene.vault()
        #expect(try next.keepsKey(of: scene.account))
        let report = try await next.wipe(scene.account, boundTo: "this")
        #expect(report.succeeded && report.files == 1)
        #expect(report.destroyedKeyIDs == [String(repeating: "0", count: 32)] && report.destroyedKeyIDs != [former])
        #expect(try !next.keepsKey(of: scene.account) && scene.secrets().isEmpty)
        try intact.write(to: record)
        #expect(await code { try await next.unlock(scene.account) } == .wrongKey)
    }

    @Test func `what is noted of wipes is forgotten on request, but for the one that is named`() async throws {
        let scene = try scene()
        defer { TemporaryFolder.remove(scene.folder) }
        let vault = try scene.vault()
        _ = try await scene.plant(in: vault)
        _ = try await vault.wipe(scene.account, boundTo: "this")
        try await vault.forgetWipes(of: scene.account, besides: "this")
        #expect(await vault.finishedReports().count == 1)
        try await vault.forgetWipes(of: scene.account, besides: "another")
        #expect(await vault.finishedReports().isEmpty)
    }

    @Test
    func `a copy of an older record in the place of the account's has a wipe name no key that it did not destroy`()
        async throws
    {
        let scene = try scene()
        defer { TemporaryFolder.remove(scene.folder) }
        let vault = try scene.vault()
        let former = try await scene.plant(in: vault)
        let record = URL(fileURLWithPath: vault.records.path(of: scene.account))
        let older = try Data(contentsOf: record)
        _ = try await vault.wipe(scene.account, boundTo: "earlier")
        _ = try await scene.plant(in: vault)
        let note = try AccountKeyRecord.wipeNote(
            scene.account, keyID: try AccountKeyRecord.identify(Array(older)).keyID)
        for bytes in [older, Data(note)] {
            try bytes.write(to: record)
            let next = try scene.vault()
            let report = try await next.wipe(scene.account, boundTo: "this")
            #expect(report.succeeded && !report.destroyedKeyIDs.contains(former))
            #expect(try scene.secrets().isEmpty)
            try await next.discardReport(for: scene.account)
            _ = try await scene.plant(in: next)
        }
    }

    @Test
    func `in a folder of keys that apps share, a journal that is put back spares no key from a wipe that begins now`()
        async throws
    {
        let workshop = try await Workshop()
        let keys = workshop.path("group")
        func app(_ name: String) throws -> Vault {
            try Vault(directory: workshop.path(name), keyStore: workshop.keyStore, keyDirectory: keys)
        }
        let first = try app("first")
        try await first.createAccountKey(for: workshop.ada)
        let (journal, kept) = (first.journals.path(for: workshop.ada), workshop.path("kept"))
        _ = try await first.wipe(workshop.ada, boundTo: "earlier") { step in
            if step.kind == .temporaryFilesRemoved { try? FileManager.default.copyItem(at: journal, to: kept) }
        }
        let second = try app("second")
        let new = try await second.createAccountKey(for: workshop.ada)
        // As one that comes back after the notes of earlier wipes were forgotten.
        try FileManager.default.copyItem(at: kept, to: journal)
        #expect(try await first.wipe(workshop.ada, boundTo: "this").destroyedKeyIDs == [new])
        #expect(await code { try await app("third").unlock(workshop.ada) } == .unknownAccount)
    }

    @Test(arguments: [false, true])
    func
        `in a folder of keys that apps share, a record that was exchanged while a wipe was asked for is spared no more`(
            isRemoved: Bool
        ) async throws
    {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let account: AccountID = "ada@example.test"
        func app(in home: URL) throws -> Vault {
            try Vault(
                directory: home.appendingPathComponent("app"),
                keyStore: FileKeyStore(directory: home.appendingPathComponent("store")),
                keyDirectory: home.appendingPathComponent("keys"))
        }
        let (home, cut) = (folder.appendingPathComponent("home"), folder.appendingPathComponent("cut"))
        let vault = try app(in: home)
        try await vault.createAccountKey(for: account)
        let record = URL(fileURLWithPath: vault.records.path(of: account))
        let older = try Data(contentsOf: record)
        _ = try await vault.wipe(account, boundTo: "earlier")
        try await vault.createAccountKey(for: account)
        let intact = try Data(contentsOf: record)
        if isRemoved { try FileManager.default.removeItem(at: record) } else { try older.write(to: record) }
        _ = try await app(in: home).wipe(account, boundTo: "this") { step in
            if step.kind == .asked { try? FileManager.default.copyItem(at: home, to: cut) }
        }
        let next = try app(in: cut)
        try intact.write(to: URL(fileURLWithPath: next.records.path(of: account)))
        #expect(try await next.wipe(account, boundTo: "this").succeeded)
        #expect(try !next.keepsKey(of: account))
    }
}
