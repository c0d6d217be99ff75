import CordonBase
import CordonIdentity
import Foundation
import Testing

@testable import CordonVault

/// Readable files of an account against power cuts, and against a wipe by another process.
struct ReadableFileTests {
    /// Ways to make a readable file of an account; what comes of it is at `target`.
    enum Way: CaseIterable {
        case decrypted, decryptedToCopy, givenUp, copied, moved

        func run(_ vault: Vault, _ file: URL, _ target: URL) async throws {
            switch self {
            case .decrypted: try await vault.decrypt(file)
            case .decryptedToCopy: try await vault.decrypt(file, toCopy: target)
            case .givenUp: try await vault.protect(file, for: nil)
            case .copied: try await vault.copy(file, to: target)
            case .moved: try await vault.move(file, to: target)
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `a readable file that comes while another process wipes its account is not left`(way: Way) async throws {
        let workshop = try await Workshop()
        let (vault, ada, file) = (workshop.vault, workshop.ada, workshop.path("plan"))
        let target = [.decrypted, .givenUp].contains(way) ? file : workshop.path("target")
        try Data("the plan".utf8).write(to: file)
        try await vault.protect(file, for: ada, sealing: ![.copied, .moved].contains(way))
        // The other process has ended the key and looked for the account's files, and has found neither this one nor its draft.
        let known = try vault.records.claim(of: ada)
        let failure = await DiskFaults.$next.withValue({ call in
            if call == "rename" || call == "link" { try? vault.records.destroySecrets(of: ada, known) }
            return 0
        }) { await code { try await way.run(vault, file, target) } }
        #expect(failure == .wiped)
        #expect(!FileManager.default.fileExists(atPath: target.path))
        #expect(vault.owner(of: target) == nil && vault.files(ownedBy: ada).allSatisfy { $0.path == file.path })
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
