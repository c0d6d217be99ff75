import CordonIdentity
import CordonPolicy
import CordonTestSupport
import Foundation
import Testing

@testable import CordonVault

/// What a vault writes, in wrong forms; what is JSON with every member in them, and the code that only the device itself can give it. None ends
/// the process, opens a key or names a file that was not meant, and no wipe counts as done by it.
struct WrongNoteTests {
    private static let lineFeed = UInt8(ascii: "\n")

    /// A journal that says that the key with this id is gone, and counts a file that is to be removed yet.
    private func journal(_ account: AccountID, _ keyID: String) throws -> JSONValue {
        var report = WipeReport(account: account, started: Date(timeIntervalSince1970: 1_700_000_000))
        report.destroyedKeyIDs = [keyID]
        report.steps = [.init(name: WipeStep.Kind.keyDestroyed.rawValue), .init(name: "own", failure: "busy")]
        let journal = WipeJournal(
            report: report, attachments: ["own"], askedKeyID: keyID, binding: "this",
            planned: ["filesRemoved": .init(files: 1, bytes: 1, left: .init(files: 1, bytes: 1))])
        return try JSONValue(parsing: JSONEncoder().encode(journal))
    }

    @Test func `a journal in any wrong form leaves neither key nor file of the account`() async throws {
        let folder = try TemporaryFolder.make(inMemory: true)
        defer { TemporaryFolder.remove(folder) }
        let (keyStore, account) = (InMemoryKeyStore(), AccountID("ada@example.test"))
        let file = folder.appending(path: "copy")
        let places = Place.all(in: try journal(account, ""))
        #expect(places.count > 20)
        for (index, place) in places.enumerated() {
            for form in WrongForm.some(at: index) {
                let vault = try Workshop.vault(in: folder, keyStore)
                let keyID = try await vault.createAccountKey(for: account)
                try Data("text".utf8).write(to: file)
                try await vault.protect(file, for: account, sealing: false)
                let text = Array(place.text(of: try journal(account, keyID), as: form).utf8)
                let mark = Array(try vault.register.secrets.code(ofJournal: text).utf8)
                for path in [vault.journals.path(for: account), vault.journals.reportPath(for: account)] {
                    try Data(text + [Self.lineFeed] + mark).write(to: path)
                }
                let next = try Workshop.vault(in: folder, keyStore)
                _ = await next.finishedReports()
                _ = try? await next.resumeWipes()
                _ = try await next.wipe(account)
                #expect(await code { try await next.unlock(account) } != nil, "\(place) \(form)")
                #expect(try !next.keepsKey(of: account), "\(place) \(form)")
                #expect(!FileManager.default.fileExists(atPath: file.path), "\(place) \(form)")
                try await next.discardReport(for: account)
            }
        }
    }

    @Test func `the note of a file's owner in any wrong form names no other file`() async throws {
        let workshop = try await Workshop()
        let (own, register) = (workshop.path("own").standardizedFileURL, workshop.vault.register)
        try Data("text".utf8).write(to: own)
        try await workshop.vault.protect(own, for: workshop.ada, sealing: false)
        let notes = try FileManager.default.contentsOfDirectory(at: register.directory, includingPropertiesForKeys: nil)
        let note = try #require(notes.first { $0.pathExtension == "json" })
        let value = try JSONValue(parsing: Data(try Data(contentsOf: note).prefix { $0 != Self.lineFeed }))
        var unread = 0
        for place in Place.all(in: value) {
            for form in WrongForm.all {
                let text = Array(place.text(of: value, as: form).utf8)
                let code = Array(try register.secrets.code(ofNote: text).utf8)
                try Data(text + [Self.lineFeed] + code).write(to: note)
                let found = register.notes(of: workshop.ada)
                #expect(found.paths.allSatisfy { $0.path == own.path }, "\(place) \(form)")
                if found.unread != nil { unread += 1 }
            }
        }
        #expect(unread > 50, "and a wipe says that it could not read it")
    }

    @Test func `a key's record in any wrong form opens nothing, and keeps no other account closed`() async throws {
        let workshop = try await Workshop()
        let record = workshop.vault.keyDirectory.appending(path: "\(workshop.ada.fileName).key")
        let whole = try Data(contentsOf: record)
        for body in WrongBody.allCases where body.bytes(of: whole) != whole {
            try body.bytes(of: whole).write(to: record)
            let next = try Workshop.vault(in: workshop.folder, workshop.keyStore)
            #expect(await code { try await next.unlock(workshop.ada) } != nil, "\(body)")
            try await next.unlock(workshop.ben)
        }
        try whole.write(to: record)
        try await Workshop.vault(in: workshop.folder, workshop.keyStore).unlock(workshop.ada)
    }

    @Test func `a former list of files in any wrong form names files beside it alone`() throws {
        let value: JSONValue = ["files": ["report": "0123456789abcdef"]]
        var read = 0
        for place in Place.all(in: value) {
            for form in WrongForm.all {
                guard let list = try? FormerList(Data(place.text(of: value, as: form).utf8)) else { continue }
                let names = list.files.values
                #expect(
                    names.allSatisfy { !$0.isEmpty && !$0.utf8.contains(0) && !$0.contains("/") }, "\(place) \(form)")
                read += 1
            }
        }
        #expect(read > 5)
    }
}
