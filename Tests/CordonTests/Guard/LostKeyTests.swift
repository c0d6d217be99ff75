import CordonTesting
import Foundation
import Testing

@testable import Cordon

/// The key store has lost a key's secret, or the disk its record.
@Suite(.timeLimit(.minutes(10))) struct LostKeyTests {
    private func emptyKeyStore(_ stand: GuardStand) throws {
        let folder = stand.house.device.folder.appending(path: "keys/secrets")
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasSuffix(".key") {
            try FileManager.default.removeItem(at: folder.appending(path: name))
        }
    }

    enum Loss: CaseIterable { case secret, record, wholeRecord }

    private func lose(_ loss: Loss, of stand: GuardStand) throws {
        switch loss {
        case .secret: try emptyKeyStore(stand)
        case .record:
            for name in try stand.records(".key") {
                try Data(count: 512).write(to: stand.keyFolder.appending(path: name))
            }
        case .wholeRecord:
            for name in try stand.records(".key") {
                try FileManager.default.removeItem(at: stand.keyFolder.appending(path: name))
            }
        }
    }

    @Test(arguments: Loss.allCases, [true, false])
    func `where the secret or the record of a key is lost, a sign-in goes on without the files, and removes nothing`(
        _ loss: Loss, isGuarded: Bool
    ) async throws {
        let stand = try await GuardStand()
        if !isGuarded { await stand.service.set { $0.keepsShares = false } }
        let first = try await stand.opened()
        #expect(try await first.context.vault.isGuarded(stand.account) == isGuarded)
        try lose(loss, of: stand)
        let record = try stand.records(".key")

        // Who turns away keeps everything as it is.
        stand.house.clock.advance(.seconds(3600))
        await stand.house.person.set { $0.signIns = [.cancelled] }
        await stand.house.person.forgetAsked()
        #expect(await !stand.reads(try await stand.house.start()))
        #expect(await stand.signInMessages().allSatisfy { $0.contains("has lost the key") })
        #expect(await !stand.signInMessages().isEmpty)
        #expect(try stand.records(".key") == record && stand.records(".lost").isEmpty)

        stand.house.clock.advance(.seconds(3600))
        await stand.house.person.set { $0.signIns = [.signedIn("oid-a")] }
        let next = try await stand.house.start()
        let events = EventCatch(next)
        #expect(await next.launch(stand.account).isOpen)
        #expect(await events.first { if case .stateSetAside = $0 { true } else { false } } != nil)
        #expect(try stand.records(".lost").count == (loss == .wholeRecord ? 0 : 1))
        #expect(try await next.files.names(of: stand.account).isEmpty)
        #expect(stand.house.device.files(in: "files").isEmpty == false, "what was sealed is where it was")
        await next.gate.keys.finishChanges(stand.account)
        try await next.files.write(GuardStand.text, as: "note", of: stand.account)
        stand.house.clock.advance(.seconds(3600))
        #expect(await stand.reads(try await stand.house.start()), "and the account goes on")

        try await next.wipe(stand.account)
        #expect(try stand.records(".lost").isEmpty && stand.records(".key").isEmpty, "a wipe removes both")
    }

    @Test func `where the record of a guarded key is gone, no start opens by itself, and an intact copy opens all`()
        async throws
    {
        let stand = try await GuardStand()
        _ = try await stand.guarded()
        let kept = try stand.records(".key").map { name in
            (name: name, bytes: try Data(contentsOf: stand.keyFolder.appending(path: name)))
        }
        try lose(.wholeRecord, of: stand)
        await stand.house.person.set { $0.signIns = [.cancelled] }
        await stand.house.person.forgetAsked()
        // At once, so that the rules alone would trust the person still.
        let second = try await stand.house.start()
        #expect(await !second.launch(stand.account).isOpen)
        #expect(await stand.signInMessages().last?.contains("has lost the key") == true)
        await #expect(throws: ProtectionError.self) { _ = try await second.files.read("note", of: stand.account) }
        #expect(try stand.records(".key").isEmpty, "no key was made without a word")

        for record in kept { try record.bytes.write(to: stand.keyFolder.appending(path: record.name)) }
        #expect(await stand.reads(try await stand.house.start()))
    }
}
