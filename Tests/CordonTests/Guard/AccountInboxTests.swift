import CordonIdentity
import CordonTestSupport
import Crypto
import Foundation
import Testing

@testable import Cordon

/// What a closed account receives is sealed until its gate opens.
@Suite(.timeLimit(.minutes(10))) struct AccountInboxTests {
    private func inbox(_ stand: GuardStand) -> URL {
        stand.house.device.folder.appending(path: "data/inbox/" + FolderName.of(stand.account))
    }

    private func items(_ stand: GuardStand) -> [URL] {
        (try? FileManager.default.contentsOfDirectory(at: inbox(stand), includingPropertiesForKeys: nil)) ?? []
    }

    @Test func `a closed account receives files, and they are in their places when the gate has opened`() async throws {
        let stand = try await GuardStand()
        _ = try await stand.guarded()
        let next = try await stand.house.start()
        try await next.files.write(Data("first".utf8), as: "download", of: stand.account)
        try await next.files.write(Data("second".utf8), as: "download", of: stand.account)
        try await next.files.write(Data("other".utf8), as: "other", of: stand.account)
        #expect(items(stand).count == 3)
        for item in items(stand) {
            let bytes = try Data(contentsOf: item)
            #expect(!["first", "second", "other", "download"].contains { bytes.range(of: Data($0.utf8)) != nil })
        }
        #expect(await next.launch(stand.account).isOpen)
        #expect(try await next.files.names(of: stand.account) == ["download", "note", "other"])
        #expect(try await next.files.read("download", of: stand.account) == Data("second".utf8), "the last one counts")
        #expect(items(stand).isEmpty)
        // What is written now is newer than what came before.
        try await next.files.write(Data("third".utf8), as: "download", of: stand.account)
        #expect(try await next.files.read("download", of: stand.account) == Data("third".utf8))
    }

    @Test func `what was received survives an end of the app, and an item that was changed is put aside`() async throws
    {
        let stand = try await GuardStand()
        _ = try await stand.guarded()
        let next = try await stand.house.start()
        for name in ["one", "two", "three"] {
            try await next.files.write(Data(name.utf8), as: name, of: stand.account)
        }
        let item = try #require(items(stand).first { $0.lastPathComponent == "2.item" })
        var bytes = try Data(contentsOf: item)
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: item)
        let last = try await stand.house.start()
        #expect(await last.launch(stand.account).isOpen)
        #expect(try await last.files.names(of: stand.account) == ["note", "one", "three"])
        #expect(items(stand).map(\.lastPathComponent) == ["2.item.damaged"])
        try await last.wipe(stand.account)
        #expect(!FileManager.default.fileExists(atPath: inbox(stand).path))
    }

    @Test func `damaged bytes of any kind are no item, and nothing traps on them`() async throws {
        let place = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(place) }
        let box = AccountInbox(in: place, of: "oid-a")
        let secret = SymmetricKey(size: .bits256)
        try box.add(.init(name: "n", contents: Data([1])), for: AccountInbox.publicKey(of: secret))
        let folder = place.appending(path: "inbox/" + FolderName.of("oid-a"))
        let good = try Data(contentsOf: folder.appending(path: "1.item"))
        for count in 0..<good.count {
            try good.prefix(count).write(to: folder.appending(path: "\(count + 2).item"))
        }
        for index in good.indices {
            var changed = good
            changed[index] ^= 0x80
            try changed.write(to: folder.appending(path: "\(1_000 + index).item"))
        }
        try good.write(to: folder.appending(path: "99999999999999999999.item"))
        var taken: [AccountInbox.Item] = []
        try await box.empty(with: secret) { taken.append($0) }
        #expect(taken == [.init(name: "n", contents: Data([1]))])
        #expect(throws: ProtectionError.self) { try box.add(.init(name: "", contents: Data()), for: Data([1, 2])) }
    }

    @Test func `an item of another account, or of another key, is none`() async throws {
        let place = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(place) }
        let (secret, other) = (SymmetricKey(size: .bits256), SymmetricKey(size: .bits256))
        let box = AccountInbox(in: place, of: "oid-a")
        try box.add(.init(name: "mine", contents: Data()), for: AccountInbox.publicKey(of: other))
        let foreign = AccountInbox(in: place, of: "oid-b")
        try foreign.add(.init(name: "theirs", contents: Data()), for: AccountInbox.publicKey(of: secret))
        try FileManager.default.copyItem(
            at: place.appending(path: "inbox/\(FolderName.of("oid-b"))/1.item"),
            to: place.appending(path: "inbox/\(FolderName.of("oid-a"))/2.item"))
        var taken: [String] = []
        try await box.empty(with: secret) { taken.append($0.name) }
        #expect(taken.isEmpty)
    }
}
