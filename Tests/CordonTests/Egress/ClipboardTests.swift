import CordonIdentity
import CordonPolicy
import CordonVault
import Foundation
import Testing

@testable import Cordon

/// What may be pasted where, whichever app wrote to the clipboard and whatever the item says of itself.
@Suite struct ClipboardTests {
    private actor Board: Clipboard {
        private(set) var item: ClipboardItem?
        init(_ item: ClipboardItem? = nil) { self.item = item }
        func write(_ item: ClipboardItem) { self.item = item }
        func read() -> ClipboardItem? { item }
    }

    private static let managedOnly: [String: JSONValue] = [
        "allowedOutboundClipboardSharingLevel": .string("managedApps"),
        "allowedInboundDataTransferSources": .string("managedApps"),
    ]
    private static let tenFree = managedOnly.merging(
        ["allowedOutboundClipboardSharingExceptionLength": .integer(10)]) { $1 }
    private let long = "the figures that no other app may read"
    private let ada = Identity.managed("oid-a")

    @Test func `a sealed text that is longer than the exception is not pasted into the personal side`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(Self.tenFree)
        let board = Board()
        try await copy(long, with: protection, to: board)
        #expect(await board.item?.text == nil)
        #expect(isDenied(await pasted(board, for: .personal, with: protection)))
        #expect(await pasted(board, for: ada, with: protection) == Pasted(text: long))
    }

    @Test func `a short text of the exception is plain for every app, and still known to its own account`()
        async throws
    {
        let device = try Device()
        let protection = try await device.enrolled(Self.tenFree)
        let board = Board()
        try await copy("ten chars!", with: protection, to: board)
        #expect(await board.item?.text == "ten chars!")
        #expect(await pasted(board, for: .personal, with: protection) == Pasted(text: "ten chars!"))
        #expect(await pasted(board, for: ada, with: protection) == Pasted(text: "ten chars!"))
    }

    @Test func `plain text that claims to be of an account is not let in as that account's`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(Self.managedOnly)
        for seal in [nil, Data("no seal".utf8)] {
            let board = Board(ClipboardItem(owner: "oid-a", text: "from anywhere", sealed: seal))
            #expect(isDenied(await pasted(board, for: ada, with: protection)))
        }
    }

    @Test func `a seal of one account under another one's name opens for neither`() async throws {
        let device = try Device()
        let two = TwoAccounts(device)
        let protection = try await two.enrolled(on: device, Self.managedOnly, [:])
        let board = Board()
        try await copy(long, with: protection, to: board)
        let sealed = try #require(await board.item?.sealed)
        for label in ["oid-b", nil] as [AccountID?] {
            let relabelled = Board(ClipboardItem(owner: label, text: nil, sealed: sealed))
            for receiver in [Identity.personal, .managed("oid-b")] {
                guard await pasted(relabelled, for: receiver, with: protection).text == nil else {
                    Issue.record("labelled \(label?.rawValue ?? "nobody's"), it was pasted for \(receiver)")
                    continue
                }
            }
        }
    }

    @Test func `a readable buffer in place of a seal is refused`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(Self.managedOnly)
        let vault = try Vault(directory: device.folder.appending(path: "forger"), keyStore: InMemoryKeyStore())
        let forged = try await vault.protect(Data("forged".utf8), for: "oid-a", sealing: false)
        let board = Board(ClipboardItem(owner: "oid-a", text: nil, sealed: forged))
        #expect(await pasted(board, for: ada, with: protection) == Pasted(failure: ProtectionError(.vault, "")))
    }

    @Test func `what was copied is not pasted while its account's gate is closed`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened(Self.managedOnly)
        let board = Board()
        try await copy(long, with: protection, to: board)
        await protection.suspend()
        #expect(isDenied(await pasted(board, for: ada, with: protection)))
    }

    @Test func `what was copied is not pasted where its account's gate closes while it is opened`() async throws {
        let (device, keys) = (try Device(), ObservedKeys())
        try await device.publish(Self.managedOnly)
        let protection = try await device.start { $0.keyStore = keys }
        await protection.enroll(device.account)
        let board = Board()
        try await copy(long, with: protection, to: board)
        try await keys.whenUsed(device.account.id, in: protection) { protection.gate.leftFront() }
        #expect(isDenied(await pasted(board, for: ada, with: protection)))
        #expect(!keys.isWaiting)
    }

    @Test func `a permit for a short text does not let a long one out`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(Self.tenFree)
        let board = Board()
        let short = try protection.outlets.copyPermit(for: "ab", of: ada)
        await expectRefused(long, with: protection, permit: short, to: board)
        var question = Question(.copy, owner: .managed("oid-a"))
        question.peer = .unmanagedApp
        let unmeasured = try protection.permit(for: question)
        await expectRefused(long, with: protection, permit: unmeasured, to: board)
        #expect(await board.item == nil)
    }

    @Test func `a permit for a managed app never leaves the text plain`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(Self.managedOnly)
        let board = Board()
        var question = Question(.copy, owner: .managed("oid-a"))
        question.peer = Peer(app: .managed, account: .managed("oid-a"), bundleID: "another.app")
        let permit = try protection.permit(for: question)
        try await protection.outlets.copy(long, of: ada, to: board, permit: permit)
        let item = try #require(await board.item)
        #expect(item.text == nil && item.sealed != nil)
    }

    private func copy(_ text: String, with protection: AppProtection, to board: Board) async throws {
        let permit = try protection.outlets.copyPermit(for: text, of: ada)
        try await protection.outlets.copy(text, of: ada, to: board, permit: permit)
    }

    private func expectRefused(
        _ text: String, with protection: AppProtection, permit: consuming EgressPermit, to board: Board
    ) async {
        do {
            try await protection.outlets.copy(text, of: ada, to: board, permit: permit)
            Issue.record("it was copied")
        } catch { #expect(error.code == .noPermit) }
    }

    private struct Pasted: Equatable {
        var text: String?
        var denial: ProtectionError?
        var failure: ProtectionError?
    }

    private func pasted(
        _ board: Board, for receiver: Identity, with protection: AppProtection
    ) async -> Pasted {
        do {
            return Pasted(text: try await protection.outlets.paste(from: board, for: receiver))
        } catch let denied as ProtectionError where denied.denial != nil {
            return Pasted(denial: denied)
        } catch { return Pasted(failure: error as? ProtectionError) }
    }

    private func isDenied(_ pasted: Pasted) -> Bool { pasted.denial?.denial?.reasons.isEmpty == false }
}
