#if os(Linux)
    import CordonBase
    import CordonPolicy
    import CordonTestSupport
    import CordonTesting
    import CordonVault
    import Foundation
    import Testing

    @testable import Cordon

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

        @Test func `an old value that something in the TPM's place repeats, beside the old file, tells nothing`()
            async throws
        {
            let tpm = try await EmulatedTPM()
            let between = try TPMBetween(tpm)
            let counter = try TPMStateCounter(
                directory: tpm.folder.appending(path: "counters"), keyStore: keys, device: between.place.path)
            let file = tpm.folder.appending(path: "counters/tpm.json")
            let read = 0x14E
            try counter.raise("a", to: 7)
            let old = Locked<[UInt8]>([])
            between.falsify { command, answer in
                if command == read { old.withLock { $0 = answer } }
                return nil
            }
            #expect(try counter.value(of: "a") == 7)
            let before = (file: try Data(contentsOf: file), answer: old.withLock { $0 })
            between.falsify(nil)
            try counter.raise("a", to: 8)
            let newest = try Data(contentsOf: file)
            try before.file.write(to: file)
            between.falsify { command, _ in command == read ? before.answer : nil }
            #expect(throws: ProtectionError(.stateUnreadable, "")) { try counter.value(of: "a") }
            between.falsify(nil)
            #expect(throws: ProtectionError(.stateUnreadable, "")) { try counter.value(of: "a") }
            try newest.write(to: file)
            #expect(try counter.value(of: "a") == 8)
        }

        @Test
        func `settings that are planted after the file of numbers was removed count for nothing at any later start`()
            async throws
        {
            let tpm = try await EmulatedTPM()
            let device = try Device()
            func counter() throws -> TPMStateCounter { try self.counter(tpm, of: device.keyStore) }
            func started() async throws -> AppProtection {
                let own = try counter()
                return try await device.start { $0.stateCounter = own }
            }
            try await started().settings.change { $0.authority = "https://own.example" }
            #expect(try await started().settings.current.authority == "https://own.example")
            try FileManager.default.removeItem(at: tpm.folder.appending(path: "counters/tpm.json"))
            let settings = device.folder.appending(path: "data/settings.json")
            for _ in 0..<2 {
                try Data(#"{"authority":"https://planted.example"}"#.utf8).write(to: settings)
                #expect(try await started().settings.current.authority == nil)
                // Whatever is written first begins the numbers anew.
                try counter().raise("another record", to: 1)
            }
            try await started().settings.change { $0.authority = "https://new.example" }
            #expect(try await started().settings.current.authority == "https://new.example", "a change settles it")
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
            let later = try await house.start { $0.stateCounter = own }
            #expect(await later.launch(house.account).steps.map(\.kind) == [.pin, .pin])
            await later.gate.keys.finishChanges(house.account)
            for name in try FileManager.default.contentsOfDirectory(atPath: copy.path) {
                try TemporaryFolder.putBack(
                    copy.appending(path: name), at: house.device.folder.appending(path: name))
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
#endif
