import CordonBase
import CordonIdentity
import Foundation
import Testing

@testable import CordonVault

/// What is read or copied during a write is of one moment, and what is written during a replacement is not lost.
struct OvertakenTests {
    private static let size = 3 << 20

    @Test func `a reader that has begun learns when a writer has overtaken it, and never sees two commits`()
        async throws
    {
        let workshop = try await Workshop()
        let path = workshop.path("busy")
        let file = try await workshop.vault.create(path, for: workshop.ada, chunkSize: 4096)
        try file.write([UInt8](repeating: 1, count: 40_000), at: 0)
        try file.sync()
        let reader = try await workshop.vault.open(path, writing: false)
        #expect(try reader.read(1, at: 0) == [1])
        for round in 2...6 {
            try file.write([UInt8](repeating: UInt8(round), count: 40_000), at: 0)
            try file.sync()
        }
        #expect(throws: VaultError(.overtaken, "")) { try reader.read(4096, at: 8192) }
        #expect(try reader.refresh())
        #expect(Set(try reader.all()) == [6])
        #expect(try reader.contents() == Data(repeating: 6, count: 40_000))
    }

    @Test func `a refresh that fails leaves a reader at the commit that it has begun`() throws {
        let (sealer, device) = (Sealer(), MemoryDevice())
        let file = try sealer.create(on: device)
        try file.write([UInt8](repeating: 1, count: 40_000), at: 0)
        try file.sync()
        let reader = try sealer.open(device)
        #expect(try reader.read(1, at: 0) == [1])
        for round in 2...6 {
            try file.write([UInt8](repeating: UInt8(round), count: 40_000), at: 0)
            try file.sync()
        }
        device.failingCall = device.calls + 1
        #expect(throws: VaultError(.inputOutput, "")) { try reader.refresh() }
        device.failingCall = nil
        #expect(throws: VaultError(.overtaken, "")) { try reader.read(4096, at: 8192) }
        #expect(try reader.refresh())
        #expect(Set(try reader.all()) == [6])
    }

    @Test(arguments: [false, true])
    func `a copy of a file that is being written holds one commit`(readable: Bool) async throws {
        let workshop = try await Workshop()
        let (path, copy) = (workshop.path("busy"), workshop.path("copy"))
        let file = try await workshop.vault.create(path, for: workshop.ada, chunkSize: 65536)
        try file.write([UInt8](repeating: 1, count: Self.size), at: 0)
        try file.sync()
        let rounds = Locked(UInt8(1))
        let writing: @Sendable (ProtectionProgress) -> Void = { _ in
            rounds.withLock { round in
                guard round < 8 else { return }
                for _ in 0..<2 {
                    round += 1
                    // One after the other, so that the first one's places are used again.
                    try? file.write([UInt8](repeating: round, count: Self.size), at: 0)
                    try? file.sync()
                }
            }
        }
        if readable {
            try await workshop.vault.decrypt(path, toCopy: copy, progress: writing)
            #expect(Set(try Data(contentsOf: copy)) == [rounds.withLock { $0 }])
        } else {
            try await workshop.vault.protect(path, toCopy: copy, for: workshop.ben, progress: writing)
            #expect(Set(try await workshop.vault.open(copy, writing: false).all()) == [rounds.withLock { $0 }])
        }
    }

    @Test func `a file that is written faster than it is copied is not copied at all`() async throws {
        let workshop = try await Workshop()
        let (path, copy) = (workshop.path("busy"), workshop.path("copy"))
        let file = try await workshop.vault.create(path, for: workshop.ada, chunkSize: 65536)
        try file.write([UInt8](repeating: 1, count: 2 << 20), at: 0)
        try file.sync()
        let failed = await code {
            try await workshop.vault.protect(path, toCopy: copy, for: workshop.ada) { _ in
                for value in 2...3 {
                    try? file.write([UInt8](repeating: UInt8(value), count: 2 << 20), at: 0)
                    try? file.sync()
                }
            }
        }
        #expect(failed == .inUse)
        #expect(PosixFile.isAbsent(copy.path))
        #expect(try PosixFile.names(in: workshop.folder.path).sorted() == ["busy", "vault"])
    }

    @Test func `a readable file that is written to while it is sealed is sealed as it is afterwards`() async throws {
        let workshop = try await Workshop()
        let path = workshop.path("plain")
        try Data(repeating: 1, count: Self.size).write(to: path)
        let isChanged = Locked(false)
        try await workshop.vault.protect(path, for: workshop.ada) { progress in
            guard progress.files == 0,
                isChanged.withLock({
                    let was = $0; $0 = true; return !was
                })
            else { return }
            let handle = try? FileHandle(forWritingTo: path)
            try? handle?.write(contentsOf: Data([7]))
            try? handle?.close()
        }
        #expect(try await workshop.vault.open(path, writing: false).read(2, at: 0) == [7, 1])
    }

    @Test func `a writer whose file is replaced before it has the lock writes into the file that has the name`()
        async throws
    {
        let workshop = try await Workshop()
        let (path, other) = (workshop.path("plan"), workshop.path("other"))
        for place in [path, other] { try await workshop.vault.create(place, for: workshop.ada).close() }
        let replaced = Replacement("lock") { rename(other.path, path.path) }
        let file = try await DiskFaults.$next.withValue({ replaced.next($0) }) { try await workshop.vault.open(path) }
        #expect(replaced.isDone)
        try file.write([7], at: 0)
        try file.close()
        #expect(try await workshop.vault.open(path, writing: false).all() == [7])
    }

    @Test func `a file that gets its writer while another is made at its path is not replaced`() async throws {
        let workshop = try await Workshop()
        let (path, other) = (workshop.path("plan"), workshop.path("other"))
        let writer = try await workshop.vault.create(other, for: workshop.ada)
        let replaced = Replacement("link", "rename") { rename(other.path, path.path) }
        let failed = await DiskFaults.$next.withValue({ replaced.next($0) }) {
            await code { _ = try await workshop.vault.create(path, for: workshop.ada) }
        }
        #expect(replaced.isDone && failed == .inUse)
        try writer.write([7], at: 0)
        try writer.close()
        #expect(try await workshop.vault.open(path, writing: false).all() == [7])
    }

    @Test func `records that change at every look are read until they fit together`() throws {
        let sealer = Sealer()
        let device = MemoryDevice()
        let file = try sealer.create(on: device)
        var images: [[UInt8]] = []
        for round in 0..<60 {
            try file.write([UInt8(round)], at: 0)
            try file.sync()
            images.append(device.bytes)
        }
        let busy = BusyDevice(images)
        let header = try SealedHeader(of: busy)
        let store = try SealedStore.open(
            on: busy, header: header, contentKey: try header.contentKey(under: sealer.key), backend: .preferred)
        #expect(try SealedFile(store, writable: false).all() == [59])
    }
}

/// Does something once, right before a call to the disk.
private final class Replacement: Sendable {
    private let calls: [String]
    private let action: @Sendable () -> Int32
    private let done = Locked(false)

    var isDone: Bool { done.withLock { $0 } }

    init(_ calls: String..., action: @escaping @Sendable () -> Int32) {
        self.calls = calls
        self.action = action
    }

    func next(_ call: String) -> Int32 {
        let isNow = done.withLock { done in
            guard !done, calls.contains(call) else { return false }
            done = true
            return true
        }
        return isNow ? action() : 0
    }
}

/// A disk on which a writer makes three commits between any two reads of a reader, for a while.
private final class BusyDevice: StorageDevice {
    private let images: [[UInt8]]
    private var next = 0

    init(_ images: [[UInt8]]) { self.images = images }

    private var image: [UInt8] { images[min(next, images.count - 1)] }

    func size() throws(VaultError) -> Int64 { Int64(image.count) }

    func read(_ memory: UnsafeMutableRawBufferPointer, at offset: Int64) throws(VaultError) -> Int {
        let bytes = image.dropFirst(Int(offset)).prefix(memory.count)
        memory.copyBytes(from: bytes)
        if Layout.recordOffsets.contains(offset) { next += 3 }
        return bytes.count
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(VaultError) {}
    func sync() throws(VaultError) {}
    func truncate(to size: Int64) throws(VaultError) {}
    func close() {}
}
