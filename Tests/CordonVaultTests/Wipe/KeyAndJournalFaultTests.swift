import CordonBase
import CordonIdentity
import CordonTestSupport
import Foundation
import Testing

@testable import CordonVault

/// Every file call of making a key and of a wipe is made to fail in turn, until a run meets no failure (R5).
struct KeyAndJournalFaultTests {
    /// Fails one call, or that and every later one, and counts.
    private final class Fault: Sendable {
        private let state = Locked((calls: 0, met: 0))
        let at: Int
        let persistently: Bool
        var met: Int { state.withLock { $0.met } }

        init(at: Int, persistently: Bool) {
            self.at = at
            self.persistently = persistently
        }

        func next(_ call: String) -> Int32 {
            state.withLock { state in
                state.calls += 1
                guard state.calls == at || (persistently && state.calls > at) else { return 0 }
                state.met += 1
                return call == "write" ? ENOSPC : EIO
            }
        }
    }

    @Test(arguments: 1...4)
    func `a vault is not opened in a folder whose name may not be on the disk`(call: Int) throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let place = folder.appendingPathComponent("app/vault")
        let fault = FailingCall("sync", number: call)
        // The app's folder, the vault's, the keys' and the wipes'.
        #expect(throws: VaultError(.inputOutput, "")) {
            try DiskFaults.$next.withValue({ fault.next($0) }) {
                _ = try Vault(directory: place, keyStore: InMemoryKeyStore())
            }
        }
        // The next attempt makes the names durable that this one did not.
        let syncs = Locked(0)
        try DiskFaults.$next.withValue({ call in
            if call == "sync" { syncs.withLock { $0 += 1 } }
            return 0
        }) {
            _ = try Vault(directory: place, keyStore: InMemoryKeyStore())
        }
        #expect(syncs.withLock { $0 } == 5 - call)
    }

    @Test func `a symbolic link in place of the folder that apps share for their keys is refused at the start`() throws
    {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let (keys, link) = (folder.appendingPathComponent("keys"), folder.appendingPathComponent("link"))
        try FileManager.default.createDirectory(at: keys, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: keys)
        let error = #expect(throws: VaultError(.inputOutput, "")) {
            try Vault(
                directory: folder.appendingPathComponent("vault"), keyStore: InMemoryKeyStore(), keyDirectory: link)
        }
        #expect(error?.place == link.path)
    }

    @Test(arguments: ["app", "app/vault", "app/vault/keys", "app/vault/wipes"])
    func `a vault names what stands in place of a folder of its`(name: String) throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let place = folder.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
        #expect(mkfifo(place.path, 0o600) == 0)
        let error = #expect(throws: VaultError(.inputOutput, "")) {
            try Vault(directory: folder.appendingPathComponent("app/vault"), keyStore: InMemoryKeyStore())
        }
        #expect(error?.reason == "What is in the directory's place is not a directory.")
        #expect(error?.place == place.path)
    }

    @Test(arguments: [false, true])
    func `a key that could not be made is there whole or not at all`(persistently: Bool) async throws {
        let workshop = try await Workshop()
        var call = 0
        while true {
            call += 1
            let account = AccountID("new-\(call)-\(persistently)@example.test")
            let fault = Fault(at: call, persistently: persistently)
            let made = try? await DiskFaults.$next.withValue({ fault.next($0) }) {
                try await workshop.vault.createAccountKey(for: account)
            }
            let next = try Workshop.vault(in: workshop.folder, workshop.keyStore)
            let found = try await next.createAccountKey(for: account)
            // What was answered is what stays.
            if let made { #expect(made == found, "call \(call)") }
            if fault.met == 0 {
                #expect(made != nil)
                break
            }
        }
        #expect(call > 8)
    }

    @Test(arguments: [false, true])
    func `a wipe ends wiped, or never began, whichever call fails`(persistently: Bool) async throws {
        var call = 0
        while true {
            call += 1
            let workshop = try await Workshop()
            let hers = workshop.path("hers")
            let file = try await workshop.vault.create(hers, for: workshop.ada)
            try file.write([1, 2, 3], at: 0)
            try file.close()
            let copy = workshop.path("copy")
            try FileManager.default.copyItem(at: hers, to: copy)
            let fault = Fault(at: call, persistently: persistently)
            let report = try? await DiskFaults.$next.withValue({ fault.next($0) }) {
                try await workshop.vault.wipe(workshop.ada)
            }
            let next = try Workshop.vault(in: workshop.folder, workshop.keyStore)
            let resumed = try await next.resumeWipes()
            let ended = await next.finishedReports().isEmpty == false
            if report != nil { #expect(ended, "call \(call)") }
            if !ended {
                #expect(resumed.isEmpty, "call \(call)")
                try await next.unlock(workshop.ada)
                #expect(try await next.open(hers, writing: false).all() == [1, 2, 3], "call \(call)")
            } else {
                #expect(await code { try await next.unlock(workshop.ada) } == .unknownAccount, "call \(call)")
                // What a failure left unremoved is in the report, and opens with no key.
                for path in [hers, copy] where FileManager.default.fileExists(atPath: path.path) {
                    #expect(await code { _ = try await next.open(path, writing: false) } != nil, "call \(call)")
                }
            }
            if fault.met == 0 {
                #expect(report?.succeeded == true)
                break
            }
        }
        #expect(call > 20)
    }
}
