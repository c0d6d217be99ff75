import CordonIdentity
import Foundation
import Testing

@testable import CordonVault

struct ProtectedBufferTests {
    private let text = "Grüße from the board meeting"

    @Test func `a protected buffer hides its bytes and names its owner`() async throws {
        let workshop = try await Workshop()
        let sealed = try await workshop.vault.protect(Data(text.utf8), for: workshop.ada)
        #expect(sealed.range(of: Data("board".utf8)) == nil)
        #expect(workshop.vault.owner(ofBuffer: sealed) == AccountID("ADA@example.test"))
        #expect(try await workshop.vault.unprotect(sealed) == Data(text.utf8))
    }

    @Test func `bytes of an account without protection stay readable behind its name`() async throws {
        let workshop = try await Workshop()
        let tagged = try await workshop.vault.protect(Data(text.utf8), for: "me@home.example", sealing: false)
        #expect(tagged.suffix(Data(text.utf8).count) == Data(text.utf8))
        #expect(workshop.vault.owner(ofBuffer: tagged) == "me@home.example")
        #expect(try await workshop.vault.unprotect(tagged) == Data(text.utf8))
    }

    @Test(arguments: [true, false])
    func `text travels as base64`(sealing: Bool) async throws {
        let workshop = try await Workshop()
        let sealed = try await workshop.vault.protect(text, for: workshop.ada, sealing: sealing)
        #expect(Data(base64Encoded: sealed) != nil)
        #expect(workshop.vault.owner(ofText: sealed) == workshop.ada)
        #expect(try await workshop.vault.unprotect(sealed) == text)
    }

    @Test func `only what was sealed for the account counts as its seal`() async throws {
        let workshop = try await Workshop()
        let bytes = Data(text.utf8)
        let sealed = try await workshop.vault.protect(bytes, for: workshop.ada)
        let named = try await workshop.vault.protect(bytes, for: workshop.ada, sealing: false)
        #expect(try await workshop.vault.unseal(sealed, of: workshop.ada) == bytes)
        #expect(await code { _ = try await workshop.vault.unseal(sealed, of: workshop.ben) } == .wrongKey)
        #expect(await code { _ = try await workshop.vault.unseal(named, of: workshop.ada) } == .notProtected)
        #expect(await code { _ = try await workshop.vault.unseal(bytes, of: workshop.ada) } == .notProtected)
    }

    @Test func `foreign bytes and text pass through, unless protection was demanded`() async throws {
        let workshop = try await Workshop()
        #expect(try await workshop.vault.unprotect(Data([1, 2])) == Data([1, 2]))
        #expect(try await workshop.vault.unprotect(Data()) == Data())
        #expect(try await workshop.vault.unprotect(text) == text)
        #expect(await code { _ = try await workshop.vault.unprotect(Data([1]), demanding: true) } == .notProtected)
        #expect(await code { _ = try await workshop.vault.unprotect("x", demanding: true) } == .notProtected)
        #expect(await code { _ = try await workshop.vault.protect(Data(), for: workshop.ada) } == .empty)
        #expect(workshop.vault.owner(ofBuffer: Data([1])) == nil)
    }

    @Test(arguments: [true, false])
    func `no changed or cut buffer gives anything back`(sealing: Bool) async throws {
        let workshop = try await Workshop()
        let sealed = try await workshop.vault.protect(Data(text.utf8), for: workshop.ada, sealing: sealing)
        for bit in 64..<sealed.count * 8 {
            var changed = sealed
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(await code { _ = try await workshop.vault.unprotect(changed) } != nil, "bit \(bit)")
        }
        for count in 8..<sealed.count {
            #expect(
                await code { _ = try await workshop.vault.unprotect(sealed.prefix(count)) } != nil, "cut at \(count)")
        }
        #expect(await code { _ = try await workshop.vault.unprotect(sealed + [0]) } == .damaged)
    }

    @Test func `a wiped account's buffer stays closed`() async throws {
        let workshop = try await Workshop()
        let sealed = try await workshop.vault.protect(Data(text.utf8), for: workshop.ada)
        _ = try await workshop.vault.wipe(workshop.ada)
        #expect(await code { _ = try await workshop.vault.unprotect(sealed) } == .unknownAccount)
        try await workshop.vault.createAccountKey(for: workshop.ada)
        #expect(await code { _ = try await workshop.vault.unprotect(sealed) } == .wrongKey)
    }
}

/// A buffer opens for what it was made for.
struct BufferContextTests {
    private let bytes = Data("granted".utf8)

    @Test(arguments: [true, false])
    func `a buffer that was protected for one thing does not open for another, nor for none`(sealing: Bool) async throws
    {
        let workshop = try await Workshop()
        let vault = workshop.vault
        let made = try await vault.protect(bytes, for: workshop.ada, sealing: sealing, context: "request 7, verdict")
        let free = try await vault.protect(bytes, for: workshop.ada, sealing: sealing)
        #expect(try await vault.unprotect(made, context: "request 7, verdict") == bytes)
        for context in ["request 8, verdict", "", nil] {
            #expect(
                await code { _ = try await vault.unprotect(made, context: context) } == .damaged, "\(context ?? "-")")
        }
        #expect(await code { _ = try await vault.unprotect(free, context: "request 7, verdict") } == .damaged)
        #expect(try await vault.unprotect(free) == bytes)
        #expect(vault.owner(ofBuffer: made) == workshop.ada)
        #expect(await code { _ = try await vault.unprotect(bytes, context: "request 7, verdict") } == .notProtected)
        for place in 0..<made.count {
            var changed = made
            changed[place] ^= 1
            // What no longer says that it is protected passes through where nothing is demanded.
            #expect(
                await code { _ = try await vault.unprotect(changed, demanding: true, context: "request 7, verdict") }
                    != nil,
                "byte \(place)")
        }
    }

    @Test(arguments: [true, false])
    func `software that knows no purposes takes a buffer for none, and refuses one for something`(
        sealing: Bool
    ) async throws {
        let workshop = try await Workshop()
        for (context, version) in [(nil, FormatVersion.one), ("verdict", .two)] as [(String?, FormatVersion)] {
            let made = try await workshop.vault.protect(bytes, for: workshop.ada, sealing: sealing, context: context)
            #expect(try ProtectedBuffer.head(of: made).version == version)
        }
    }

    @Test func `text and seals take a context too`() async throws {
        let workshop = try await Workshop()
        let vault = workshop.vault
        let text = try await vault.protect("granted", for: workshop.ada, context: "verdict")
        #expect(try await vault.unprotect(text, context: "verdict") == "granted")
        #expect(await code { _ = try await vault.unprotect(text) } == .damaged)
        let sealed = try await vault.protect(bytes, for: workshop.ada, context: "verdict")
        #expect(try await vault.unseal(sealed, of: workshop.ada, context: "verdict") == bytes)
        #expect(await code { _ = try await vault.unseal(sealed, of: workshop.ada) } == .damaged)
    }
}
