import CordonIdentity
import CordonPolicy
import CordonTestSupport
import Crypto
import Foundation
import Testing

@testable import Cordon
@testable import CordonVault

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
        for (index, body) in WrongBody.allCases.enumerated() where body.bytes(of: good) != good {
            try body.bytes(of: good).write(to: folder.appending(path: "\(2_000 + index).item"))
        }
        try good.write(to: folder.appending(path: "99999999999999999999.item"))
        var taken: [AccountInbox.Item] = []
        _ = try await box.empty(with: secret) { (item) throws(ProtectionError) in
            taken.append(item)
            return true
        }
        #expect(taken == [.init(name: "n", contents: Data([1]))])
        #expect(throws: ProtectionError.self) { try box.add(.init(name: "", contents: Data()), for: Data([1, 2])) }
    }

    @Test func `who had the lock of an inbox leaves its file only beside what waits there`() async throws {
        let place = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(place) }
        let box = AccountInbox(in: place, of: "oid-a")
        let secret = SymmetricKey(size: .bits256)
        func names() throws -> [String] {
            try FileManager.default.subpathsOfDirectory(atPath: place.path)
                .filter { $0.contains(FolderName.of("oid-a")) }
        }
        try await box.exclusively { () throws(ProtectionError) in
            try box.add(.init(name: "n", contents: Data([1])), for: AccountInbox.publicKey(of: secret))
        }
        #expect(try names().contains { $0.hasSuffix(".lock") })
        try box.remove()
        #expect(try names() == [])
        // As by work that waited for the wipe.
        await #expect(throws: Wipes.underWay) {
            try await box.exclusively { () throws(ProtectionError) in throw Wipes.underWay }
        }
        #expect(try names() == [])
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
        _ = try await box.empty(with: secret) { (item) throws(ProtectionError) in
            taken.append(item.name)
            return true
        }
        #expect(taken.isEmpty)
    }

    @Test func `a name that no file can have is refused to a closed account too`() async throws {
        let stand = try await GuardStand()
        _ = try await stand.guarded()
        let next = try await stand.house.start()
        let name = String(repeating: "n", count: 1025)
        await #expect(throws: ProtectionError(.vault, "")) {
            try await next.files.write(Data("download".utf8), as: name, of: stand.account)
        }
        #expect(items(stand).isEmpty)
    }

    @Test func `no name that a file came under ends the process, or keeps the gate closed`() async throws {
        let stand = try await GuardStand()
        _ = try await stand.guarded()
        let next = try await stand.house.start()
        let box = AccountInbox(in: stand.house.device.folder.appending(path: "data"), of: stand.account)
        let key = try KeyGuards(next.context, rules: next.rules).inboxKey(of: stand.account)
        var names: Set<String> = []
        for case .literal(let text) in WrongForm.all {
            guard let name = (try? JSONValue(parsing: Data(text.utf8)))?.string else { continue }
            try box.add(.init(name: name, contents: Data(name.utf8)), for: key)
            names.insert(name)
        }
        #expect(names.count > 15)
        #expect(await next.launch(stand.account).isOpen)
        let taken = try await next.files.names(of: stand.account)
        #expect(names.union(["note"]).isSuperset(of: taken) && taken.count > 15)
        for name in taken where name != "note" {
            #expect(try await next.files.read(name, of: stand.account) == Data(name.utf8))
        }
    }

    @Test(arguments: [false, true])
    func `a file that can never take its place is put aside, and keeps nobody from the others`(_ isFolder: Bool)
        async throws
    {
        let stand = try await GuardStand()
        let first = try await stand.guarded()
        let folder = first.context.folder(of: stand.account)
        let place = try #require(
            try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
                .first { $0.lastPathComponent.count == 64 })
        try await first.files.write(Data("report".utf8), as: "report", of: stand.account)
        let next = try await stand.house.start()
        try await next.files.write(Data("newer".utf8), as: "note", of: stand.account)
        try await next.files.write(Data("later".utf8), as: "report", of: stand.account)
        if isFolder {
            try FileManager.default.removeItem(at: place)
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        } else {
            try Data(repeating: 7, count: 5000).write(to: place)
        }
        let events = EventCatch(next)
        #expect(await next.launch(stand.account).isOpen)
        #expect(try await next.files.read("report", of: stand.account) == Data("later".utf8))
        #expect(items(stand).map(\.lastPathComponent) == ["1.item.damaged"])
        let isTold = { @Sendable (event: ProtectionEvent) in
            if case .stateSetAside = event { true } else { false }
        }
        #expect(await events.first(where: isTold) != nil)
        // Another one that is put aside does not take the place of the first.
        let last = try await stand.house.start()
        try await last.files.write(Data("newest".utf8), as: "note", of: stand.account)
        #expect(await last.launch(stand.account).isOpen)
        _ = try await last.files.names(of: stand.account)
        #expect(items(stand).count == 2)
    }

    @Test func `what cannot take its place now keeps nobody from reading what is there`() async throws {
        let stand = try await GuardStand()
        _ = try await stand.guarded()
        let next = try await stand.house.start()
        try await next.files.write(Data("newer".utf8), as: "note", of: stand.account)
        #expect(await next.launch(stand.account).isOpen)
        // No lock, no taking in.
        let lock = inbox(stand).appendingPathExtension("lock")
        try FileManager.default.removeItem(at: lock)
        try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false)
        #expect(try await next.files.read("note", of: stand.account) == GuardStand.text)
        // What is written then would be replaced by what came before.
        await #expect(throws: ProtectionError.self) {
            try await next.files.write(Data("newest".utf8), as: "note", of: stand.account)
        }
        try FileManager.default.removeItem(at: lock)
        #expect(try await next.files.read("note", of: stand.account) == Data("newer".utf8))
    }

    @Test func `what was received waits while the record that names hang on is damaged`() async throws {
        let stand = try await GuardStand()
        let app = try await stand.guarded()
        let vault = app.context.vault
        // As an update from a version whose keys hung on the root key alone leaves it.
        let former = AccountKey(account: stand.account, id: SecureRandom.bytes(16), secret: .random())
        let intact = Data(
            try FormerKeyRecord.seal(former, under: try await vault.key(for: stand.account), isUnused: true))
        var damaged = intact
        damaged[100] ^= 1
        let record = vault.keyDirectory.appending(path: stand.account.fileName + ".former")
        try damaged.write(to: record)
        let next = try await stand.house.start()
        try await next.files.write(Data("received".utf8), as: "plan", of: stand.account)
        #expect(await next.launch(stand.account).isOpen)
        await #expect(throws: ProtectionError(.vault, "")) { try await next.files.read("plan", of: stand.account) }
        await #expect(throws: ProtectionError(.vault, "")) {
            try await next.files.write(Data("newer".utf8), as: "note", of: stand.account)
        }
        #expect(items(stand).map(\.lastPathComponent) == ["1.item"])
        try intact.write(to: record)
        let last = try await stand.house.start()
        #expect(await last.launch(stand.account).isOpen)
        #expect(try await last.files.read("plan", of: stand.account) == Data("received".utf8))
        #expect(items(stand).isEmpty)
    }

    @Test func `what comes for a file that is open for writing waits for it, and keeps nobody from other files`()
        async throws
    {
        let stand = try await GuardStand()
        let app = try await stand.guarded()
        try await app.files.write(Data("old".utf8), as: "old", of: stand.account)
        let writer = try await app.files.open("note", of: stand.account, writing: true)
        // A share extension, which asks for no PIN.
        let other = try await stand.house.start()
        for (text, name) in [("newer", "note"), ("newest", "note"), ("received", "report")] {
            try await other.files.write(Data(text.utf8), as: name, of: stand.account)
        }
        #expect(items(stand).count == 3)
        try await app.files.write(Data("written".utf8), as: "report", of: stand.account)
        #expect(items(stand).map(\.lastPathComponent).sorted() == ["1.item", "2.item"])
        try await app.files.remove("old", of: stand.account)
        #expect(try await app.files.names(of: stand.account) == ["note", "report"])
        // It would come back with what waits.
        await #expect(throws: ProtectionError(.vault, "")) { try await app.files.remove("note", of: stand.account) }
        try writer.close()
        #expect(
            try await app.files.read("note", of: stand.account) == Data("newest".utf8), "in the order of their coming")
        #expect(try await app.files.read("report", of: stand.account) == Data("written".utf8))
        #expect(items(stand).isEmpty)
    }

    @Test func `a file that cannot be taken now keeps later ones of its name, in any spelling, behind it`() async throws
    {
        let place = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(place) }
        let box = AccountInbox(in: place, of: "oid-a")
        let secret = SymmetricKey(size: .bits256)
        let key = try AccountInbox.publicKey(of: secret)
        for (index, name) in ["caf\u{e9}", "other", "cafe\u{301}"].enumerated() {
            try box.add(.init(name: name, contents: Data([UInt8(index)])), for: key)
        }
        let busy = ProtectionError(.vault, "busy")
        var asked: [UInt8?] = []
        let (refused, waiting) = try await box.empty(with: secret) { (item) throws(ProtectionError) in
            asked.append(item.contents.first)
            if item.name == "caf\u{e9}" { throw busy }
            return true
        }
        #expect(asked == [0, 1] && refused == 0)
        #expect(waiting == ["caf\u{e9}": busy])
        asked = []
        let (_, left) = try await box.empty(with: secret) { (item) throws(ProtectionError) in
            asked.append(item.contents.first)
            return true
        }
        #expect(asked == [0, 2] && left.isEmpty && box.isEmpty)
    }

    @Test func `a file that is too long to be kept for a closed account is refused`() throws {
        let place = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(place) }
        let box = AccountInbox(in: place, of: "oid-a", longest: 70_000)
        let key = try AccountInbox.publicKey(of: SymmetricKey(size: .bits256))
        #expect(throws: ProtectionError(.stateUnwritable, "")) {
            try box.add(.init(name: "n", contents: Data(count: 5000)), for: key)
        }
        #expect(box.isEmpty)
        try box.add(.init(name: "n", contents: Data(count: 4000)), for: key)
    }
}
