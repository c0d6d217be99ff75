import CordonBase
import Foundation
import Testing

@testable import CordonVault

/// A folder of version 1, with a list of its files, takes the present form.
struct FormerFolderTests {
    private func seal(_ text: String, at path: URL, _ key: AccountKey) throws {
        let device = try PosixFile.create(path.path, mode: 0o600)
        let (header, contentKey) = try SealedHeader.make(.one, owner: key.account, accountKey: key, chunkSize: 4096)
        let store = try SealedStore.create(on: device, header: header, contentKey: contentKey, backend: .preferred)
        let file = SealedFile(store, writable: true)
        try file.replaceContents(with: Data(text.utf8))
        try file.close()
    }

    @Test func `nothing is left of a file's former place and of the list, and no power cut brings them back`()
        async throws
    {
        let workshop = try await Workshop()
        let folder = SealedFolder(workshop.path("files"), of: workshop.ada)
        try PosixFile.makeDirectory(folder.url.path)
        let key = try await workshop.vault.key(for: workshop.ada)
        try seal("the plan", at: folder.url.appending(path: "3f"), key)
        try seal(#"{"files":{"plan":"3f"}}"#, at: folder.url.appending(path: FormerList.fileName), key)
        let calls = Locked<[String]>([])
        try await DiskFaults.$next.withValue({ call in
            calls.withLock { $0.append(call) }
            return 0
        }) { try await workshop.vault.carryOver(folder) }
        let plan = try await workshop.vault.open("plan", in: folder, writing: false).contents()
        #expect(plan == Data("the plan".utf8))
        let names = try PosixFile.names(in: folder.url.path)
        #expect(Set(names) == [try key.fileName(for: "plan"), SealedFolder.directoryName])
        // A former file that came back with the list would take the place of what was written since.
        let changes = calls.withLock { $0 }.filter { ["rename", "unlink", "sync"].contains($0) }
        #expect(changes.contains("unlink") && changes.last == "sync")
    }
}
