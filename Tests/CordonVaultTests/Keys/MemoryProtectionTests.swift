import CordonBase
import CordonIdentity
import CordonTestSupport
import Foundation
import Testing

@testable import CordonVault

/// Keys and plaintext in memory: where they lie, and that nothing is made of a key that goes meanwhile.
struct MemoryProtectionTests {
    @Test func `what is made of a secret while it is destroyed is not given out`() throws {
        let secret = SecretBytes.random()
        let made = secret.withBytes { bytes -> [UInt8] in
            secret.destroy()
            return Array(bytes)
        }
        #expect(made == nil)
        let key = AccountKey(account: "ada@example.test", id: SecureRandom.bytes(16), secret: .random())
        key.destroy()
        #expect(throws: VaultError(.locked, "")) {
            _ = try SealedHeader.make(owner: key.account, accountKey: key, chunkSize: 4096)
        }
    }

    #if os(Linux)
        /// Whether the kernel writes core files where a process dies, and lets this one ask for them.
        private static let writesCores: Bool = {
            guard let pattern = KernelText.contents(of: "/proc/sys/kernel/core_pattern"),
                let capabilities = KernelText.contents(of: "/proc/self/status")?.split(separator: "\n")
                    .first(where: { $0.hasPrefix("CapEff:") })?.split(separator: "\t").last
                    .flatMap({ UInt64($0, radix: 16) })
            else { return false }
            // Exit tests begin with no core files allowed; CAP_SYS_RESOURCE lifts that.
            return capabilities & 1 << 24 != 0 && !pattern.hasPrefix("|") && !pattern.contains("/")
        }()

        @Test(.enabled(if: writesCores, "core files go elsewhere, or this process may not ask for them"))
        func `a core file of an app with an open account holds no key and no plaintext of its buffers`() async throws {
            let folder = try TemporaryFolder.make()
            defer { TemporaryFolder.remove(folder) }
            let mask: UInt8 = 0x5A
            await #expect(processExitsWith: .signal(SIGABRT)) { [path = folder.path as String] in
                let workshop = try await Workshop()
                let file = try await workshop.vault.create(workshop.path("note"), for: workshop.ada)
                let text = SecretBytes.random()
                let plaintext = RawMemory(32, isSecret: true)
                _ = text.withBytes { plaintext.slice(0, 32).copyMemory(from: $0) }
                try text.withBytes { try file.write($0, at: 0) }
                try file.sync()
                let key = try await workshop.vault.key(for: workshop.ada)
                let content = try #require(workshop.vault.facts(of: workshop.path("note"))).contentKey(under: key)
                // The control lies in ordinary memory; what is looked for leaves the process masked.
                let control = Data(SecureRandom.bytes(32))
                let masked = [text, content].map { $0.withBytes { Data($0.map { $0 ^ 0x5A }) } ?? Data() }
                try (masked.reduce(Data(), +) + Data(control.map { $0 ^ 0x5A }))
                    .write(to: URL(fileURLWithPath: path + "/needles"))
                var limit = rlimit(rlim_cur: .max, rlim_max: .max)
                setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
                chdir(path)
                signal(SIGABRT, SIG_DFL)
                withExtendedLifetime((workshop, file, control, plaintext)) { abort() }
            }
            let core = try #require(
                try FileManager.default.contentsOfDirectory(atPath: folder.path).first { $0.hasPrefix("core") })
            let memory = try Data(contentsOf: folder.appendingPathComponent(core), options: .alwaysMapped)
            let needles = try Data(contentsOf: folder.appendingPathComponent("needles")).map { $0 ^ mask }
            #expect(needles.count == 96)
            for (number, name) in ["plaintext", "content key", "control"].enumerated() {
                let needle = Data(needles[number * 32..<number * 32 + 32])
                #expect((memory.range(of: needle) != nil) == (name == "control"), "\(name)")
            }
        }

        /// What the kernel says of the page at an address: `dd` for not dumped, `lo` for locked.
        private func flags(at address: UnsafeRawPointer?, in process: String = "self") throws -> Set<String> {
            let place = UInt(bitPattern: address)
            var isHere = false
            for line in try #require(KernelText.contents(of: "/proc/\(process)/smaps")).split(separator: "\n") {
                let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
                if ends.count == 2 { isHere = (ends[0]..<ends[1]).contains(place) }
                if isHere, line.hasPrefix("VmFlags:") {
                    return Set(line.split(separator: " ").dropFirst().map(String.init))
                }
            }
            return []
        }

        @Test func `keys, expanded keys and plaintext lie in pages that are locked and not dumped`() throws {
            // Others have had some of the pages before.
            for _ in 0..<4 { _ = SecretBytes.random().withBytes { DirectCipher(key: $0) } }
            let secret = SecretBytes.random()
            let plaintext = RawMemory(16384, isSecret: true)
            let long = RawMemory(1 << 20, isSecret: true)
            let cipher = try #require(secret.withBytes { DirectCipher(key: $0) } ?? nil)
            let control = RawMemory(16384)
            let kept: [UnsafeRawPointer?] = [
                secret.withBytes { $0.baseAddress }.flatMap { $0 }, UnsafeRawPointer(plaintext.bytes.baseAddress),
                UnsafeRawPointer(cipher.expanded),
            ]
            for address in kept { #expect(try flags(at: address).isSuperset(of: ["dd", "lo"])) }
            #expect(try flags(at: long.bytes.baseAddress).contains("dd"))
            #expect(
                try !flags(at: control.bytes.baseAddress).isSuperset(of: ["dd", "lo"]),
                "the control: no page is so by itself")
            withExtendedLifetime((secret, plaintext, long, cipher, control)) {}
        }

        /// Makes a child that does what the body does and ends. Swift does not offer `fork`.
        private static func fork(_ body: () -> Void) throws -> pid_t {
            typealias Fork = @convention(c) () -> pid_t
            let found = try #require(dlsym(UnsafeMutableRawPointer(bitPattern: 0), "fork"))
            let child = unsafeBitCast(found, to: Fork.self)()
            if child == 0 {
                body()
                _exit(0)
            }
            try #require(child > 0)
            return child
        }

        private static func status(of child: pid_t) -> Int32 {
            var status: Int32 = -1
            while waitpid(child, &status, 0) < 0, errno == EINTR {}
            return status
        }

        @Test func `a forked child locks a page that waited in its parent`() async throws {
            // In a process of its own, so that nothing else takes the page.
            await #expect(processExitsWith: .success) {
                let former = GuardedMemory(32)
                let waiting = UnsafeRawPointer(former.bytes.baseAddress)
                former.giveBack()
                var (answer, go): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
                try #require(pipe(&answer) == 0 && pipe(&go) == 0)
                let (told, telling, waited, ending) = (answer[0], answer[1], go[0], go[1])
                let child = try Self.fork {
                    var address = UInt(bitPattern: GuardedMemory(32).bytes.baseAddress)
                    _ = write(telling, &address, MemoryLayout<UInt>.size)
                    var byte: UInt8 = 0
                    _ = read(waited, &byte, 1)
                }
                close(telling)
                var address: UInt = 0
                let count = read(told, &address, MemoryLayout<UInt>.size)
                let flags = try MemoryProtectionTests().flags(at: waiting, in: "\(child)")
                _ = write(ending, [0], 1)
                try #require(Self.status(of: child) == 0)
                try #require(count == MemoryLayout<UInt>.size && address == UInt(bitPattern: waiting))
                try #require(flags.isSuperset(of: ["dd", "lo"]))
            }
        }

        @Test func `a forked child takes pages for keys, whatever a thread of its parent was doing with its own`()
            async throws
        {
            await #expect(processExitsWith: .success) {
                let isOver = Locked(false)
                Thread.detachNewThread {
                    while !isOver.withLock({ $0 }) { for _ in 0..<1000 { GuardedMemory(32).giveBack() } }
                }
                // One fork in twenty or so meets the thread with the lock.
                for _ in 0..<400 {
                    let child = try Self.fork {
                        // Ends a child that waits for a thread which it does not have.
                        alarm(20)
                        GuardedMemory(32).giveBack()
                    }
                    try #require(Self.status(of: child) == 0)
                }
                isOver.withLock { $0 = true }
            }
        }

        /// Tells on machines alone whose pages are larger than 4 KiB.
        @Test func `an expanded key has pages of its own, and one that is let go unlocks no other`() throws {
            let secret = SecretBytes.random()
            var ciphers = try (0..<16).map { _ in
                try #require(secret.withBytes { DirectCipher(key: $0) } ?? nil)
            }
            for cipher in ciphers {
                #expect(UInt(bitPattern: UnsafeRawPointer(cipher.expanded)).isMultiple(of: UInt(getpagesize())))
            }
            ciphers = ciphers.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
            for cipher in ciphers {
                #expect(try flags(at: UnsafeRawPointer(cipher.expanded)).isSuperset(of: ["dd", "lo"]))
            }
        }

        @Test func `a key that was read from its file is nowhere in memory once it is let go`() async throws {
            await #expect(processExitsWith: .success) {
                let folder = try TemporaryFolder.make()
                defer { TemporaryFolder.remove(folder) }
                let file = KeyFile(path: folder.appending(path: "root.key").path, magic: "CORDONRK")
                try file.make(from: .random(), replacing: false)
                let mask: UInt8 = 0x5A
                func needle() throws -> [UInt8] {
                    let device = try #require(try PosixFile.open(file.path, writing: false))
                    defer { device.close() }
                    let record = RawMemory(40, isSecret: true)
                    try device.readAll(record.slice(0, 40), at: 0)
                    return record.slice(8, 32).map { $0 ^ mask }
                }
                let masked = try needle()
                func found() throws -> Int { try MemoryScan.count(of: masked, maskedWith: mask) }
                let held = try withExtendedLifetime(try file.read()) { _ in try found() }
                try #require(held > 0)
                for _ in 0..<100 { _ = try file.read() }
                try #require(try found() == 0)
            }
        }

        @Test func `a scan of the live process finds an open file's key before the account is locked, and never after`()
            async throws
        {
            // In a process of its own, so that nothing else moves memory meanwhile.
            await #expect(processExitsWith: .success) {
                let workshop = try await Workshop()
                let path = workshop.path("note")
                let mask: UInt8 = 0x5A
                let file = try await workshop.vault.create(path, for: workshop.ada)
                try file.write([1, 2, 3], at: 0)
                try file.sync()
                func contentKey() async throws -> [UInt8] {
                    let key = try await workshop.vault.key(for: workshop.ada)
                    let content = try #require(workshop.vault.facts(of: path)).contentKey(under: key)
                    defer { content.destroy() }
                    return try #require(content.withBytes { $0.map { $0 ^ mask } })
                }
                let needle = try await contentKey()
                try #require(MemoryScan.count(of: needle, maskedWith: mask) > 0)
                await workshop.vault.lock()
                try #require(MemoryScan.count(of: needle, maskedWith: mask) == 0)
                withExtendedLifetime(file) {}
            }
        }
    #endif
}
