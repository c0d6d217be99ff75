import CordonBase
import CordonIdentity
import Foundation
import Testing

@testable import CordonVault

/// Readable files of an account against power cuts, and against a wipe by another process.
struct ReadableFileTests {
    /// Ways to make a readable file of an account; what comes of it is at `target`.
    enum Way: CaseIterable {
        case decrypted, decryptedToCopy, givenUp, copied, moved, linked

        func run(_ vault: Vault, _ file: URL, _ target: URL) async throws {
            switch self {
            case .decrypted: try await vault.decrypt(file)
            case .decryptedToCopy: try await vault.decrypt(file, toCopy: target)
            case .givenUp: try await vault.protect(file, for: nil)
            case .copied: try await vault.copy(file, to: target)
            case .moved: try await vault.move(file, to: target)
            case .linked: try await vault.link(file, as: target)
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `a readable file that comes while another process wipes its account is not left`(way: Way) async throws {
        let workshop = try await Workshop()
        let (vault, ada, file) = (workshop.vault, workshop.ada, workshop.path("plan"))
        let target = [.decrypted, .givenUp].contains(way) ? file : workshop.path("target")
        try Data("the plan".utf8).write(to: file)
        try await vault.protect(file, for: ada, sealing: ![.copied, .moved, .linked].contains(way))
        // The other process has ended the key and looked for the account's files, and has found neither this one nor its draft.
        let known = try vault.records.claim(of: ada)
        let failure = await DiskFaults.$next.withValue({ call in
            if call == "rename" || call == "link" { try? vault.records.destroySecrets(of: ada, known) }
            return 0
        }) { await code { try await way.run(vault, file, target) } }
        #expect(failure == .wiped)
        // What is still sealed under the key that has ended says nothing to anybody.
        #expect(!FileManager.default.fileExists(atPath: target.path) || vault.isSealed(target))
        #expect(vault.files(ownedBy: ada).allSatisfy { $0.path == file.path })
    }

    @Test(arguments: [Way.copied, .moved, .linked])
    func `a readable file that may be of the account's next key stays where the one in memory had ended before`(
        way: Way
    ) async throws {
        let workshop = try await Workshop()
        let (vault, ada) = (workshop.vault, workshop.ada)
        let (file, target) = (workshop.path("plan"), workshop.path("target"))
        try Data("the plan".utf8).write(to: file)
        try await vault.protect(file, for: ada, sealing: false)
        try vault.records.destroySecrets(of: ada, try vault.records.claim(of: ada))
        let failure = await code { try await way.run(vault, file, target) }
        // Or the vault has heard of the end by then, and goes on without the key.
        if failure != nil {
            #expect(failure == .wiped)
            #expect(try Data(contentsOf: file) == Data("the plan".utf8) && vault.owner(of: file) == ada)
            try await way.run(vault, file, target)
        }
        #expect(try Data(contentsOf: target) == Data("the plan".utf8) && vault.owner(of: target) == ada)
    }

    @Test func `whose a file is changes no earlier on the disk than the file, and durably`() async throws {
        let workshop = try await Workshop()
        let (vault, ada, plan) = (workshop.vault, workshop.ada, workshop.path("plan"))
        try Data("the plan".utf8).write(to: plan)
        try await vault.protect(plan, for: ada, sealing: false)
        let calls = Locked<[String]>([])
        try await DiskFaults.$next.withValue({ call in
            calls.withLock { $0.append(call) }
            return 0
        }) { try await vault.protect(plan, for: ada) }
        let made = calls.withLock { $0 }
        let renamed = try #require(made.lastIndex(of: "rename"))
        #expect(made[(renamed + 1)...].filter { ["sync", "unlink"].contains($0) } == ["sync", "unlink", "sync"])
        try await vault.protect(plan, for: ada, sealing: false)
        let failure = await DiskFaults.$next.withValue({ $0 == "sync" ? EIO : 0 }) {
            await code { try await vault.protect(plan, for: nil) }
        }
        #expect(failure == .inputOutput, "a note that a power cut brings back would have a wipe remove the file")
    }
}
