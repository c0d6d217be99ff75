#if os(Linux)
    import CordonBase
    import CordonIdentity
    import CordonSignIn
    import CordonTestSupport
    import CordonTesting
    import CordonVault
    import Crypto
    import Foundation
    import Testing

    @testable import Cordon

    /// Keys in a file that a TPM opens, against the emulator of Debian.
    @Suite(
        .tags(.machineAlone), .enabled(if: EmulatedTPM.program != nil, "needs swtpm"), .timeLimit(.minutes(10)))
    struct TPMKeyStoreTests {
        private static let refusal = VaultError(.keyStore, "")

        /// The store after a start of the app.
        private func store(_ tpm: EmulatedTPM, over device: URL? = nil) -> TPMKeyStore {
            TPMKeyStore(directory: folder(tpm), device: (device ?? tpm.socket).path)
        }

        private func folder(_ tpm: EmulatedTPM) -> URL { tpm.folder.appending(path: "keys") }
        private func file(_ tpm: EmulatedTPM) -> URL { folder(tpm).appending(path: "tpm.keys") }

        private func name(_ number: UInt8) -> KeyStoreName {
            [UInt8](repeating: number, count: 16).withUnsafeBytes(KeyStoreName.init)
        }

        /// What is in the TPM for the file that is there.
        private func keys(_ tpm: EmulatedTPM) throws -> [UInt8] {
            let password = try Array(Data(contentsOf: file(tpm))[8..<40])
            let index = TPMIndex(
                device: tpm.socket.path, handle: 0x0180_C04B, kind: .bytes(64), password: password)
            guard case .bytes(let keys) = try index.content() else { return [] }
            return keys
        }

        // MARK: What it keeps

        @Test func `what is made stays for every start, and what is destroyed or retired is so for every start`()
            async throws
        {
            let tpm = try await EmulatedTPM()
            let first = store(tpm)
            let root = try first.rootKey()
            let secrets = try [1, 2, 3].map { try first.makeSecret(for: name($0)) }
            try first.keep(Data("number 1".utf8), named: "session-count")
            try first.destroySecret(for: name(2))
            try first.destroySecret(for: name(9))
            try first.retire(name(2))
            let newer = try first.makeSecret(for: name(3))
            await tpm.stop()
            try await tpm.start()
            let second = store(tpm)
            #expect(try second.rootKey() == root && root.bitCount == 256)
            #expect(try second.secret(for: name(1)) == secrets[0])
            #expect(try second.secret(for: name(2)) == nil)
            #expect(try second.secret(for: name(3)) == newer && newer != secrets[2])
            #expect(try second.isRetired(name(2)) && !second.isRetired(name(1)))
            #expect(try second.secret(named: "session-count") == Data("number 1".utf8))
            try second.destroy(named: "session-count")
            #expect(try first.secret(named: "session-count") == nil)
            let mode = try FileManager.default.attributesOfItem(atPath: file(tpm).path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }

        @Test func `a look writes nothing, and neither does a change that changes nothing`() async throws {
            let tpm = try await EmulatedTPM()
            let keys = store(tpm)
            _ = try keys.rootKey()
            try keys.retire(name(1))
            try keys.keep(Data([1]), named: "a")
            let before = (try Data(contentsOf: file(tpm)), try self.keys(tpm))
            _ = try keys.rootKey()
            _ = try keys.secret(for: name(1))
            try keys.retire(name(1))
            try keys.destroySecret(for: name(1))
            try keys.keep(Data([1]), named: "a")
            try keys.destroy(named: "b")
            #expect(try Data(contentsOf: file(tpm)) == before.0 && self.keys(tpm) == before.1)
        }

        @Test func `processes that begin at once agree on one root key, and each one's secrets are kept`() async throws
        {
            let tpm = try await EmulatedTPM()
            let made = try await withThrowingTaskGroup(of: (UInt8, SymmetricKey, SymmetricKey).self) { group in
                for number in UInt8(1)...6 {
                    group.addTask {
                        let keys = store(tpm)
                        return (number, try keys.rootKey(), try keys.makeSecret(for: name(number)))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(made.count == 6)
            for (number, root, secret) in made {
                #expect(try store(tpm).rootKey() == root)
                #expect(try store(tpm).secret(for: name(number)) == secret)
            }
        }

        // MARK: Who has a copy

        @Test func `who has a copy of the folder and not the TPM reads nothing`() async throws {
            let tpm = try await EmulatedTPM()
            let root = try store(tpm).rootKey()
            let secret = try store(tpm).makeSecret(for: name(1))
            let bytes = try Data(contentsOf: file(tpm))
            for key in [root, secret] {
                #expect(bytes.range(of: key.withUnsafeBytes { Data($0) }) == nil)
            }
            let other = try await EmulatedTPM()
            try FileManager.default.copyItem(at: folder(tpm), to: folder(other))
            #expect(throws: Self.refusal) { try store(other).rootKey() }
            #expect(throws: Self.refusal) { try store(other).secret(for: name(1)) }
            // One whose machine runs the same app.
            try FileManager.default.removeItem(at: folder(other))
            let theirs = try store(other).rootKey()
            let theirFile = try Data(contentsOf: file(other))
            try bytes.write(to: file(other))
            #expect(throws: Self.refusal) { try store(other).rootKey() }
            #expect(throws: Self.refusal) { try store(other).makeSecret(for: name(2)) }
            #expect(try Data(contentsOf: file(other)) == bytes, "and nothing is made anew")
            try theirFile.write(to: file(other))
            #expect(try store(other).rootKey() == theirs && theirs != root)
        }

        @Test func `after each change no older copy of the folder opens on the same machine`() async throws {
            let tpm = try await EmulatedTPM()
            let keys = store(tpm)
            let root = try keys.rootKey()
            let changes: [() throws -> Void] = [
                { _ = try keys.makeSecret(for: name(1)) }, { _ = try keys.makeSecret(for: name(1)) },
                { try keys.destroySecret(for: name(1)) }, { try keys.retire(name(1)) },
                { try keys.keep(Data([1]), named: "a") }, { try keys.keep(Data([2]), named: "a") },
                { try keys.destroy(named: "a") },
            ]
            var older: [Data] = []
            for change in changes {
                older.append(try Data(contentsOf: file(tpm)))
                try change()
                let newest = try Data(contentsOf: file(tpm))
                for bytes in older {
                    try bytes.write(to: file(tpm))
                    #expect(throws: Self.refusal) { try keys.rootKey() }
                    #expect(throws: SignInError.self) { try keys.secret(named: "a") }
                }
                try newest.write(to: file(tpm))
                #expect(try keys.rootKey() == root)
            }
        }

        @Test func `a home that is put back whole after a wipe, keys included, opens nothing`() async throws {
            let tpm = try await EmulatedTPM()
            let (home, copy) = (tpm.folder.appending(path: "home"), tpm.folder.appending(path: "copy"))
            let keys = TPMKeyStore(directory: home.appending(path: "keys"), device: tpm.socket.path)
            func vault() throws -> Vault {
                try Vault(
                    directory: home.appending(path: "vault"), keyStore: keys, roots: [home.appending(path: "files")])
            }
            let first = try vault()
            try await first.createAccountKey(for: "ada@example.test")
            try FileManager.default.copyItem(at: home, to: copy)
            try await vault().unlock("ada@example.test")
            _ = try await first.wipe("ada@example.test")
            let newest = try Data(contentsOf: home.appending(path: "keys/tpm.keys"))
            try TemporaryFolder.putBack(copy, at: home)
            #expect(throws: Self.refusal) { try vault() }
            try newest.write(to: home.appending(path: "keys/tpm.keys"))
            let error = await #expect(throws: VaultError.self) { try await vault().unlock("ada@example.test") }
            #expect(error?.code == .wiped)
        }

        @Test func `the number of a sign-in's newest file does not come back with an older copy of everything`()
            async throws
        {
            let tpm = try await EmulatedTPM()
            let keys = store(tpm)
            let counted = CountedSecret("session-1", in: keys)
            let key = try counted.make(number: 1)
            let before = try Data(contentsOf: file(tpm))
            try counted.raise(to: 2)
            #expect(try counted.values().map(\.number) == [2] && counted.values().map(\.key) == [key])
            let newest = try Data(contentsOf: file(tpm))
            try before.write(to: file(tpm))
            #expect(throws: SignInError.self) { try counted.values() }
            try newest.write(to: file(tpm))
            try counted.destroy()
            for older in [before, newest] {
                try older.write(to: file(tpm))
                #expect(throws: SignInError.self) { try counted.values() }
            }
        }

        @Test func `a process that was stopped within a change, and whose lock was taken away, brings nothing back`()
            async throws
        {
            let tpm = try await EmulatedTPM()
            let keys = store(tpm)
            let root = try keys.rootKey()
            let secret = try keys.makeSecret(for: name(1))
            _ = try keys.makeSecret(for: name(2))
            // It knows both secrets, and is stopped before it writes.
            func overtake() throws {
                try FileManager.default.removeItem(at: folder(tpm).appending(path: "tpm.lock"))
                try store(tpm).destroySecret(for: name(2))
                try store(tpm).retire(name(2))
            }
            var failure: (any Error)?
            let overtaken = #expect(throws: ProtectionError.self) {
                try keys.file.change { secrets in
                    do { try overtake() } catch { failure = error }
                    secrets["another"] = root
                    return true
                }
            }
            #expect(failure == nil)
            #expect(overtaken?.code == .stateUnwritable)
            #expect(try keys.secret(for: name(2)) == nil && keys.isRetired(name(2)))
            #expect(try keys.rootKey() == root && keys.secret(for: name(1)) == secret)
            try keys.destroySecret(for: name(1))
            #expect(try store(tpm).secret(for: name(1)) == nil)
        }

        // MARK: What is not as it was

        @Test func `a file that was changed, cut off or emptied opens nothing, and nothing is made in its place`()
            async throws
        {
            let tpm = try await EmulatedTPM()
            let root = try store(tpm).rootKey()
            let good = try Data(contentsOf: file(tpm))
            var bad = [
                Data(), good.prefix(8), good.prefix(39), good.prefix(40), good.prefix(60), good.dropLast(), good + [0],
            ]
            for index in stride(from: 0, to: good.count, by: 5) {
                var changed = good
                changed[index] ^= 1
                bad.append(changed)
            }
            for bytes in bad {
                try bytes.write(to: file(tpm))
                #expect(throws: Self.refusal) { try store(tpm).rootKey() }
                #expect(throws: Self.refusal) { try store(tpm).makeSecret(for: name(1)) }
                #expect(try Data(contentsOf: file(tpm)) == bytes)
            }
            try FileManager.default.removeItem(at: file(tpm))
            let gone = #expect(throws: VaultError.self) { try store(tpm).rootKey() }
            #expect(gone?.code == .keyStore && gone?.hint.contains("tpm2_nvundefine 0x0180c04b") == true)
            try good.write(to: file(tpm))
            chmod(file(tpm).path, 0o644)
            #expect(throws: Self.refusal) { try store(tpm).rootKey() }
            chmod(file(tpm).path, 0o600)
            #expect(try store(tpm).rootKey() == root)
        }

        @Test func `a file that is sealed under a place without a key is nobody's`() async throws {
            let tpm = try await EmulatedTPM()
            let root = try store(tpm).rootKey()
            let good = try Data(contentsOf: file(tpm))
            #expect(try keys(tpm).filter { $0 == 0 }.count >= 32, "one place is empty")
            for value in [UInt8(0), 0xFF] {
                let key = SymmetricKey(data: [UInt8](repeating: value, count: 32))
                let sealed = try AES.GCM.seal(Data(), using: key, authenticating: good.prefix(40))
                try (good.prefix(40) + #require(sealed.combined)).write(to: file(tpm))
                #expect(throws: Self.refusal) { try store(tpm).rootKey() }
            }
            try good.write(to: file(tpm))
            #expect(try store(tpm).rootKey() == root)
        }

        @Test func `a TPM that is not there or was cleared is an error, and nothing is made anew`() async throws {
            let tpm = try await EmulatedTPM()
            _ = try store(tpm).rootKey()
            let good = try Data(contentsOf: file(tpm))
            await tpm.stop()
            let absent = #expect(throws: VaultError.self) { try store(tpm).rootKey() }
            #expect(absent?.code == .keyStore && absent?.hint.contains("tss") == true)
            try await tpm.start()
            _ = try store(tpm).rootKey()
            try await tpm.clear()
            let cleared = #expect(throws: VaultError.self) { try store(tpm).rootKey() }
            #expect(cleared?.code == .keyStore && cleared?.hint.contains("begin anew") == true)
            #expect(throws: Self.refusal) { try store(tpm).destroySecret(for: name(1)) }
            #expect(try Data(contentsOf: file(tpm)) == good)
            // What the hint says.
            try FileManager.default.removeItem(at: folder(tpm))
            let root = try store(tpm).rootKey()
            #expect(try store(tpm).rootKey() == root)
        }

        @Test func `an index of another program's, or one that nobody may define, is an error, and nothing changes`()
            async throws
        {
            let tpm = try await EmulatedTPM()
            let counter = try TPMStateCounter(
                directory: tpm.folder.appending(path: "counters"), keyStore: InMemoryKeyStore(), index: 0x0180_C04B,
                device: tpm.socket.path)
            try counter.raise("a", to: 7)
            let error = #expect(throws: VaultError.self) { try store(tpm).rootKey() }
            #expect(error?.code == .keyStore && error?.reason.contains("another program's") == true)
            #expect(!FileManager.default.fileExists(atPath: file(tpm).path))
            #expect(try counter.value(of: "a") == 7)
            let outside = TPMKeyStore(directory: folder(tpm), index: 0x0140_0000, device: tpm.socket.path)
            #expect(throws: Self.refusal) { try outside.rootKey() }
        }

        @Test func `an app whose TPM was cleared does not start, and deletes nothing`() async throws {
            let tpm = try await EmulatedTPM()
            let house = try await Gatehouse(isLasting: true)
            let keys = TPMKeyStore(directory: tpm.folder.appending(path: "keys"), device: tpm.socket.path)
            _ = try await house.opened { $0.keyStore = keys }
            func paths() throws -> [String] {
                try FileManager.default.subpathsOfDirectory(atPath: house.device.folder.path)
                    .filter { !$0.hasSuffix(".lock") }.sorted()
            }
            let before = try paths()
            try await tpm.clear()
            await #expect(throws: ProtectionError(.vault, "")) { try await house.start { $0.keyStore = keys } }
            #expect(try before.allSatisfy(paths().contains))
            // Begun anew, the person signs in.
            try FileManager.default.removeItem(at: tpm.folder.appending(path: "keys"))
            await house.person.set { $0.signIns = [.unavailable("There is no network.")] }
            let anew = try await house.start { $0.keyStore = keys }
            #expect(await !anew.launch(house.account).isOpen)
        }

        @Test(.enabled(if: SmallDisk.isPossible, "needs namespaces of mounts"))
        func `a full disk keeps no secret from being destroyed, and no name from being retired`() async throws {
            let tpm = try await EmulatedTPM()
            let disk = try await SmallDisk()
            let keys = TPMKeyStore(directory: disk.folder.appending(path: "keys"), device: tpm.socket.path)
            let root = try keys.rootKey()
            for number in UInt8(1)...4 { _ = try keys.makeSecret(for: name(number)) }
            for number in UInt8(1)...4 {
                try disk.fill()
                try keys.destroySecret(for: name(number))
                try disk.fill()
                try keys.retire(name(number))
                #expect(try keys.secret(for: name(number)) == nil && keys.isRetired(name(number)))
            }
            #expect(try keys.rootKey() == root)
        }

        // MARK: Who stands between

        @Test func `what an app and its TPM say shows no key that a file is sealed under`() async throws {
            let tpm = try await EmulatedTPM()
            let between = try TPMBetween(tpm)
            let keys = store(tpm, over: between.place)
            _ = try keys.rootKey()
            _ = try keys.makeSecret(for: name(1))
            _ = try keys.rootKey()
            let current = try self.keys(tpm)
            let used = try #require([current.prefix(32), current.suffix(32)].first { Set($0).count > 1 })
            #expect(between.seen.count > 20)
            #expect(!between.seen.contains { Data($0).range(of: Data(used)) != nil })
        }

        @Test func `an answer that was changed, kept from before or made up opens nothing`() async throws {
            let tpm = try await EmulatedTPM()
            let between = try TPMBetween(tpm)
            let keys = store(tpm, over: between.place)
            let root = try keys.rootKey()
            let read = 0x14E
            let old = Locked<[UInt8]>([])
            between.falsify { command, answer in
                if command == read { old.withLock { $0 = answer } }
                return nil
            }
            _ = try keys.rootKey()
            let kept = old.withLock { $0 }
            #expect(kept.count > 64)
            for index in 10..<kept.count {
                between.falsify { command, answer in
                    guard command == read else { return nil }
                    var changed = answer
                    changed[index] ^= 1
                    return changed
                }
                #expect(throws: Self.refusal, "byte \(index)") { try keys.rootKey() }
            }
            between.falsify { command, _ in command == read ? kept : nil }
            let error = #expect(throws: VaultError.self) { try keys.rootKey() }
            #expect(error?.reason.contains("does not know the password") == true)
            // That there is no index anyone can say.
            between.falsify { command, _ in command == 0x169 ? [0x80, 0x01, 0, 0, 0, 10, 0, 0, 0x01, 0x8B] : nil }
            let bytes = try Data(contentsOf: file(tpm))
            #expect(throws: Self.refusal) { try keys.makeSecret(for: name(1)) }
            #expect(try Data(contentsOf: file(tpm)) == bytes)
            between.falsify(nil)
            #expect(try keys.rootKey() == root)
        }

        @Test func `a TPM that is busy is asked again`() async throws {
            let tpm = try await EmulatedTPM()
            let root = try store(tpm).rootKey()
            let between = try TPMBetween(tpm)
            // It has let another go first, tests itself, spares its memory, or says so without a reason.
            let left = Locked<[UInt32]>([0x908, 0x90A, 0x920, 0x922])
            between.falsify { command, _ in
                guard command == 0x169, let busy = left.withLock({ $0.popLast() }) else { return nil }
                return [0x80, 0x01, 0, 0, 0, 10] + TPMBytes.long(busy)
            }
            #expect(try store(tpm, over: between.place).rootKey() == root)
            #expect(left.withLock { $0.isEmpty })
        }

        // MARK: Kills

        @Test(arguments: [1, 2], [false, true])
        func `a change that was killed at any step leaves a file that opens, and no older one once anybody was told`(
            change: Int, isDone: Bool
        ) async throws {
            for second in [false, true] {
                let tpm = try await EmulatedTPM()
                let between = try TPMBetween(tpm)
                let keys = store(tpm, over: between.place)
                let root = try keys.rootKey()
                let (secret, other) = (try keys.makeSecret(for: name(1)), try keys.makeSecret(for: name(2)))
                let before = try Data(contentsOf: file(tpm))
                between.cut(at: change, isDone: isDone)
                #expect(throws: Self.refusal) { try keys.destroySecret(for: name(1)) }
                let after = try Data(contentsOf: file(tpm))
                #expect((before == after) == (change == 1))
                // What is done about the kill is killed as well.
                between.cut(at: 1, isDone: second)
                _ = try? keys.rootKey()
                between.cut(at: nil)
                #expect(try keys.secret(for: name(1)) == (change == 1 ? secret : nil))
                #expect(try keys.rootKey() == root && keys.secret(for: name(2)) == other)
                if change == 2 {
                    try before.write(to: file(tpm))
                    #expect(throws: Self.refusal) { try keys.secret(for: name(1)) }
                    try after.write(to: file(tpm))
                }
                try keys.destroySecret(for: name(1))
                try keys.retire(name(1))
                let newest = try Data(contentsOf: file(tpm))
                for older in [before, after] {
                    try older.write(to: file(tpm))
                    #expect(throws: Self.refusal) { try keys.secret(for: name(1)) }
                }
                try newest.write(to: file(tpm))
                #expect(try keys.rootKey() == root && keys.secret(for: name(1)) == nil)
            }
        }

        @Test(arguments: Array(1...5), [false, true])
        func `a first start that was killed at any step is gone on with`(change: Int, isDone: Bool) async throws {
            let tpm = try await EmulatedTPM()
            let between = try TPMBetween(tpm)
            between.cut(at: change, isDone: isDone)
            #expect(throws: Self.refusal) { try store(tpm, over: between.place).rootKey() }
            between.cut(at: nil)
            let root = try store(tpm, over: between.place).rootKey()
            let secret = try store(tpm).makeSecret(for: name(1))
            #expect(try store(tpm).rootKey() == root && store(tpm).secret(for: name(1)) == secret)
            #expect(try keys(tpm).filter { $0 == 0 }.count >= 32, "one place is empty")
        }
    }
#endif
