#if os(Linux)
    import Cordon
    import CordonBase
    import CordonPolicy
    import CordonTestSupport
    import CordonTesting
    import CordonVault
    import Foundation
    import Testing

    /// Numbers whose newest state a TPM tells, against the emulator of Debian.
    @Suite(
        .tags(.machineAlone), .enabled(if: EmulatedTPM.program != nil, "needs swtpm"), .timeLimit(.minutes(10)))
    struct TPMStateCounterTests {
        private let keys = InMemoryKeyStore()

        private func counter(_ tpm: EmulatedTPM, of keys: (any KeyStore)? = nil) throws -> TPMStateCounter {
            try TPMStateCounter(
                directory: tpm.folder.appending(path: "counters"), keyStore: keys ?? self.keys, device: tpm.socket.path)
        }

        @Test func `a number rises and never falls, another name has its own, and another process sees both`()
            async throws
        {
            let tpm = try await EmulatedTPM()
            let first = try counter(tpm)
            #expect(first.survivesRestore)
            #expect(try first.value(of: "a") == 0)
            try first.raise("a", to: 7)
            try first.raise("a", to: 5)
            try first.raise("b", to: 2)
            let second = try counter(tpm)
            #expect(try second.value(of: "a") == 7)
            #expect(try second.value(of: "b") == 2)
            #expect(try second.value(of: "c") == 0)
            try second.raise("a", to: 8)
            #expect(try first.value(of: "a") == 8)
        }

        @Test(arguments: ["older", "damaged", "gone"])
        func `a file that is not the last one tells nothing, and the next change begins anew with no number`(
            _ what: String
        ) async throws {
            let tpm = try await EmulatedTPM()
            let counter = try counter(tpm)
            try counter.raise("a", to: 7)
            let file = tpm.folder.appending(path: "counters/tpm.json")
            let before = try Data(contentsOf: file)
            try counter.raise("a", to: 8)
            try counter.raise("b", to: 1)
            switch what {
            case "older": try before.write(to: file)
            case "damaged": try Data("no numbers".utf8).write(to: file)
            default: try FileManager.default.removeItem(at: file)
            }
            for name in ["a", "b", "c"] {
                #expect(throws: ProtectionError(.stateUnreadable, "")) { try counter.value(of: name) }
            }
            try counter.raise("b", to: 2)
            #expect(try counter.value(of: "a") == 0, "what was lost is not put back")
            #expect(try counter.value(of: "b") == 2)
        }

        @Test func `a TPM that is not there, or whose index is another program's, is an error that says so`()
            async throws
        {
            let tpm = try await EmulatedTPM()
            try counter(tpm).raise("a", to: 7)
            let foreign = try counter(tpm, of: InMemoryKeyStore())
            let error = #expect(throws: ProtectionError.self) { try foreign.value(of: "a") }
            #expect(error?.reason.contains("another program's") == true)
            #expect(throws: ProtectionError.self) { try foreign.raise("a", to: 9) }
            await tpm.stop()
            let gone = #expect(throws: ProtectionError.self) { try counter(tpm).value(of: "a") }
            #expect(gone?.code == .stateUnreadable && gone?.hint.contains("tss") == true)
            #expect(throws: ProtectionError(.invalidConfiguration, "")) {
                _ = try TPMStateCounter(directory: tpm.folder, keyStore: keys, index: 0x0140_0000)
            }
        }

        @Test func `a home that is put back whole, keys included, asks for a sign-in`() async throws {
            let tpm = try await EmulatedTPM()
            let house = try await Gatehouse(isLasting: true)
            let keyStore = house.device.keyStore
            func counter() throws -> TPMStateCounter {
                try TPMStateCounter(
                    directory: house.device.folder.appending(path: "counters"), keyStore: keyStore,
                    device: tpm.socket.path)
            }
            let own = try counter()
            _ = try await house.opened { $0.stateCounter = own }
            let copy = tpm.folder.appending(path: "copy")
            try TemporaryFolder.copy(house.device.folder, to: copy)
            house.clock.advance(.seconds(3600))
            await house.person.set { $0.pins = [.entered("1111"), .entered("2580")] }
            #expect(
                await (try house.start { $0.stateCounter = own }).launch(house.account).steps.map(\.kind) == [
                    .pin, .pin,
                ])

            for name in try FileManager.default.contentsOfDirectory(atPath: copy.path) {
                let place = house.device.folder.appending(path: name)
                try? FileManager.default.removeItem(at: place)
                try FileManager.default.copyItem(at: copy.appending(path: name), to: place)
            }
            await house.person.set { $0.signIns = [.unavailable("There is no network.")] }
            let restored = try await house.start { $0.stateCounter = own }
            #expect(await !restored.launch(house.account).isOpen, "the PIN alone opens nothing")
            await house.person.set { $0.signIns = [.signedIn("oid-a")] }
            _ = await restored.checkIn(house.account)
            let outcome = await restored.launch(house.account)
            #expect(outcome.isOpen && outcome.steps.contains { $0.kind == .signIn && $0.answer == .done })
        }
    }

    /// A TPM 2 in a process beside the tests.
    private final class EmulatedTPM: Sendable {
        static let program = Program.find("swtpm")

        let folder: URL
        var socket: URL { folder.appending(path: "tpm") }
        private let process = Locked<Process?>(nil)

        init() async throws {
            folder = try TemporaryFolder.make()
            try FileManager.default.createDirectory(
                at: folder.appending(path: "state"), withIntermediateDirectories: true)
            try await start()
        }

        deinit {
            process.withLock { _ = $0.map { kill($0.processIdentifier, SIGKILL) } }
            TemporaryFolder.remove(folder)
        }

        func start() async throws {
            let process = Process()
            process.executableURL = URL(filePath: Self.program ?? "")
            process.arguments = [
                "socket", "--tpm2", "--server", "type=unixio,path=\(socket.path)", "--tpmstate",
                "dir=\(folder.appending(path: "state").path)", "--flags", "not-need-init,startup-clear",
            ]
            process.standardError = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            self.process.withLock { $0 = process }
            // The socket has its name a moment before it listens.
            let probe = try TPMStateCounter(
                directory: folder.appending(path: "probe"), keyStore: InMemoryKeyStore(), index: 0x0180_0001,
                device: socket.path)
            try await until { (try? probe.value(of: "probe")) != nil }
        }

        func stop() async {
            guard
                let process = process.withLock({ process in
                    defer { process = nil }
                    return process
                })
            else { return }
            await withCheckedContinuation { ended in
                process.terminationHandler = { _ in ended.resume() }
                // Left alone with a connection it does not hear SIGTERM; what it has answered for is on the disk.
                kill(process.processIdentifier, SIGKILL)
            }
            try? FileManager.default.removeItem(at: socket)
        }
    }
#endif
