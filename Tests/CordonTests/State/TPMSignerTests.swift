#if os(Linux)
    import CordonBase
    import CordonProtocol
    import CordonTestSupport
    import CordonTesting
    import CordonVault
    import Foundation
    import Testing

    @testable import Cordon

    /// Keys that sign in a TPM, against the emulator of Debian.
    @Suite(
        .tags(.machineAlone), .enabled(if: EmulatedTPM.program != nil, "needs swtpm"), .timeLimit(.minutes(10)))
    struct TPMSignerTests {
        private static let refusal = ProtocolError(.signingFailed, "")
        private let text = Data("who has the token shows the key".utf8)

        private func keys(_ tpm: EmulatedTPM, over device: URL? = nil) -> TPMKeyStore {
            TPMKeyStore(directory: tpm.folder.appending(path: "keys"), device: (device ?? tpm.socket).path)
        }

        @Test func `a key is made in the TPM, signs, and is the same for every start`() async throws {
            let tpm = try await EmulatedTPM()
            let first = try TPMSigner(keys(tpm))
            for _ in 0..<20 {
                let signature = try first.signature(for: text)
                #expect(signature.count == 64 && first.publicKey.isValidSignature(signature, for: text))
                #expect(!first.publicKey.isValidSignature(signature, for: text + [0]))
            }
            await tpm.stop()
            try await tpm.start()
            let second = try TPMSigner(keys(tpm))
            #expect(second.publicKey == first.publicKey)
            #expect(first.publicKey.isValidSignature(try second.signature(for: text), for: text))
            let other = try TPMSigner(keys(tpm), handle: 0x8101_C04C)
            #expect(other.publicKey != first.publicKey)
            #expect(first.publicKey.isValidSignature(try first.signature(for: text), for: text))
        }

        @Test func `processes that begin at once have one key`() async throws {
            let tpm = try await EmulatedTPM()
            let made = try await withThrowingTaskGroup(of: JSONWebKey.self) { group in
                for _ in 0..<4 { group.addTask { try TPMSigner(keys(tpm)).publicKey } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(made.count == 1)
        }

        @Test func `a key of another program, or under a handle that nobody may take, is an error, and that key stays`()
            async throws
        {
            let tpm = try await EmulatedTPM()
            let theirs = try TPMSigner(keys(tpm))
            let others = TPMKeyStore(
                directory: tpm.folder.appending(path: "others"), index: 0x0180_C0FE, device: tpm.socket.path)
            let error = #expect(throws: ProtocolError.self) { try TPMSigner(others) }
            #expect(error?.code == .signingFailed && error?.reason.contains("another program's") == true)
            #expect(throws: Self.refusal) { try TPMSigner(others, handle: 0x4000_0001) }
            #expect(theirs.publicKey.isValidSignature(try theirs.signature(for: text), for: text))
        }

        @Test func `a TPM that is away signs later, and one that was cleared never again`() async throws {
            let tpm = try await EmulatedTPM()
            let signer = try TPMSigner(keys(tpm))
            await tpm.stop()
            #expect(throws: Self.refusal) { try signer.signature(for: text) }
            #expect(throws: Self.refusal) { try TPMSigner(keys(tpm)) }
            try await tpm.start()
            #expect(signer.publicKey.isValidSignature(try signer.signature(for: text), for: text))
            try await tpm.clear()
            #expect(throws: ProtocolError(.unknownKey, "")) { try signer.signature(for: text) }
            #expect(throws: Self.refusal) { try TPMSigner(keys(tpm)) }
            TemporaryFolder.remove(tpm.folder.appending(path: "keys"))
            #expect(try TPMSigner(keys(tpm)).publicKey != signer.publicKey)
        }

        @Test func `a signature that was given before stands for no other text`() async throws {
            let tpm = try await EmulatedTPM()
            let between = try TPMBetween(tpm)
            let signer = try TPMSigner(keys(tpm, over: between.place))
            let sign = 0x15D
            let old = Locked<[UInt8]>([])
            between.falsify { command, answer in
                if command == sign { old.withLock { $0 = answer } }
                return nil
            }
            _ = try signer.signature(for: text)
            let kept = old.withLock { $0 }
            between.falsify { command, _ in command == sign ? kept : nil }
            #expect(throws: Self.refusal) { try signer.signature(for: Data("another".utf8)) }
            #expect(throws: Self.refusal) { try TPMSigner(keys(tpm, over: between.place)) }
        }

        @Test(arguments: Array(1...4), [false, true])
        func `a first start that was killed at any step has its key at the next`(
            change: Int, isDone: Bool
        ) async throws {
            let tpm = try await EmulatedTPM()
            let between = try TPMBetween(tpm)
            _ = try keys(tpm, over: between.place).rootKey()
            between.cut(at: change, isDone: isDone)
            #expect(throws: Self.refusal) { try TPMSigner(keys(tpm, over: between.place)) }
            between.cut(at: nil)
            let signer = try TPMSigner(keys(tpm, over: between.place))
            #expect(try TPMSigner(keys(tpm)).publicKey == signer.publicKey)
        }
    }
#endif
