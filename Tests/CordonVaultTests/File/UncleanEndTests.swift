import CordonIdentity
import Foundation
import Testing

@testable import CordonVault

/// A content key lasts, however often a file is left without a closing record.
struct UncleanEndTests {
    @Test func `a file stays writable over 2,200 kills`() throws {
        let sealer = Sealer()
        var device = MemoryDevice()
        try sealer.create(on: device).close()
        for round in 0..<2200 {
            let file = try sealer.open(device, writing: true)
            try file.write([UInt8(truncatingIfNeeded: round)], at: 0)
            try file.sync()
            // What a kill leaves is what the disk holds now.
            device = MemoryDevice(device.bytes)
        }
        #expect(try sealer.open(device).all() == [UInt8(truncatingIfNeeded: 2199)])
        let record = try #require(CommitRecordOnDisk.newest(device))
        #expect(record.isWriting && record.reach < Layout.sealLimit / 512)
    }

    @Test func `a kill costs no more seals than were made, and 1,024 at least`() throws {
        let sealer = Sealer()
        let device = MemoryDevice()
        let file = try sealer.create(on: device)
        for round in 0..<300 {
            for chunk in 0..<20 {
                try file.write([UInt8](repeating: UInt8(round % 256), count: 4096), at: Int64(chunk) * 4096)
            }
        }
        // Nothing was synced, so only the reservations say how far the key was used.
        let reserved = try #require(CommitRecordOnDisk.newest(device)).reach
        #expect(reserved >= 6000)
        try file.sync()
        let begun = try sealer.open(MemoryDevice(device.bytes), writing: true)
        try begun.write([1], at: 0)
        try begun.sync()
        try file.close()
        let record = try #require(CommitRecordOnDisk.newest(device))
        #expect(!record.isWriting && record.sealCount > 6000 && record.sealCount < 7000)
    }

    @Test func `a writer that does not sync reserves more by doubling, and commits nothing by it`() throws {
        let sealer = Sealer()
        let device = MemoryDevice(try sealer.image([UInt8](repeating: 1, count: 20 * 4096)))
        try Self.use(device, sealer.key, until: 1 << 21)
        let before = try sealer.open(MemoryDevice(device.bytes)).all()
        let start = try #require(CommitRecordOnDisk.newest(device))
        let file = try sealer.open(device, writing: true)
        for round in 0..<300 {
            for chunk in 0..<20 {
                try file.write([UInt8](repeating: UInt8(round % 200), count: 4096), at: Int64(chunk) * 4096)
            }
        }
        let newest = try #require(CommitRecordOnDisk.newest(device))
        #expect((3...6).contains(newest.generation - start.generation))
        #expect(newest.reach >= start.sealCount + 6000 && newest.reach <= start.sealCount + 13_000)
        #expect(try sealer.open(MemoryDevice(device.bytes)).all() == before)
        try file.close()
        #expect(Set(try sealer.open(MemoryDevice(device.bytes)).all()) == [99])
    }

    @Test func `what the version before left while it was writing counts as that version counted`() throws {
        // It wrote the number made so far, and went on for at most 2^20 more.
        let left = CommitRecord(
            generation: 7, length: 0, sealCount: 12_345, slotCount: 0, isWriting: true,
            physicalLength: Layout.dataStart,
            root: .hole)
        #expect(left.reach == 12_345 + 1 << 20)
    }

    @Test func `locking an account leaves a file that is open for writing complete`() async throws {
        let workshop = try await Workshop()
        let path = workshop.path("journal")
        try await workshop.vault.create(path, for: workshop.ada).close()
        for round in 0..<40 {
            let file = try await workshop.vault.open(path)
            try file.write([UInt8(round)], at: 0)
            try file.sync()
            try file.write([UInt8(round)], at: 1)
            #expect(await workshop.vault.lock(workshop.ada).isEmpty)
            let facts = try Vault.inspect(path)
            #expect(!facts.isBeingWritten && facts.seals < 1000)
            try await workshop.vault.unlock(workshop.ada)
        }
        #expect(try await workshop.vault.open(path, writing: false).all() == [39, 39])
    }

    @Test(arguments: [Layout.sealLimit / 2, Layout.sealLimit - 8])
    func `a file whose key has sealed half as often as is safe gets a new one when it is opened for writing`(
        seals: UInt64
    ) async throws {
        let workshop = try await Workshop()
        let folder = SealedFolder(workshop.path("notes"), of: workshop.ada)
        try PosixFile.makeDirectory(folder.url.path)
        let file = try await workshop.vault.create("plan", in: folder)
        try file.write([1, 2, 3], at: 1 << 20)
        try file.close()
        let path = try await workshop.vault.path(of: "plan", in: folder)
        try await use(path, of: workshop, until: seals)
        let before = try Vault.inspect(path)
        #expect(before.seals >= seals)
        #expect(try await workshop.vault.open("plan", in: folder, writing: false).read(3, at: 1 << 20) == [1, 2, 3])
        #expect(try Vault.inspect(path).fileID == before.fileID)

        let renewed = try await workshop.vault.open("plan", in: folder, writing: true)
        #expect(await code { _ = try await workshop.vault.open("plan", in: folder, writing: true) } == .inUse)
        for round in 0..<100 { try renewed.write([UInt8](repeating: UInt8(round), count: 16384), at: 0) }
        try renewed.close()
        let after = try Vault.inspect(path)
        #expect(after.fileID != before.fileID && after.seals < 1000 && after.length == before.length)
        #expect(after.bytesOnDisk < 1 << 18)
        let reader = try await workshop.vault.open("plan", in: folder, writing: false)
        #expect(try reader.read(3, at: 1 << 20) == [1, 2, 3])
        #expect(try await workshop.vault.names(in: folder) == ["plan"])
        #expect(!(try PosixFile.names(in: folder.url.path)).contains { $0.hasPrefix(".cordon-") })
    }

    @Test func `a file that gets a new key is handed out only while its path names it, whichever sync fails`()
        async throws
    {
        var number = 0
        while true {
            number += 1
            let workshop = try await Workshop()
            let path = workshop.path("plan")
            try await workshop.vault.create(path, for: workshop.ada).close()
            try await use(path, of: workshop, until: Layout.sealLimit / 2)
            let fault = FailingCall("sync", number: number)
            let handedOut = try? await DiskFaults.$next.withValue({ fault.next($0) }) {
                try await workshop.vault.open(path)
            }
            guard fault.isMet else { break }
            if let handedOut {
                try handedOut.write([7], at: 0)
                try handedOut.sync()
                #expect(try await workshop.vault.open(path, writing: false).read(1, at: 0) == [7], "sync \(number)")
                try handedOut.close()
            }
            let again = try await workshop.vault.open(path)
            #expect(try again.read(1, at: 5) == [9], "sync \(number)")
            try again.close()
        }
        #expect(number > 3)
    }

    @Test func `a file that is moved before its new key is made keeps its own, and what is written goes with it`()
        async throws
    {
        let workshop = try await Workshop()
        let (path, moved) = (workshop.path("plan"), workshop.path("moved"))
        try await workshop.vault.create(path, for: workshop.ada).close()
        try await use(path, of: workshop, until: Layout.sealLimit / 2)
        let file = try await DiskFaults.$next.withValue({ call in
            guard call == "create" else { return 0 }
            rename(path.path, moved.path)
            return ENOSPC
        }) { try await workshop.vault.open(path) }
        try file.write([7], at: 0)
        try file.close()
        #expect(try await workshop.vault.open(moved, writing: false).read(1, at: 0) == [7])
    }

    @Test func `a writer that stays open ends where its key has sealed as often as is safe, and what it synced stays`()
        async throws
    {
        let sealer = Sealer()
        let device = MemoryDevice(try sealer.image([200]))
        let header = try SealedHeader(of: device)
        let store = try SealedStore.open(
            on: device, header: header, contentKey: try header.contentKey(under: sealer.key), backend: .preferred)
        try store.prepareForWriting()
        store.seals = Layout.sealLimit - 12
        let file = SealedFile(store, writable: true)
        var synced: UInt8 = 200
        let refusal = await code {
            for round in 0..<UInt8(20) {
                try file.write([round], at: 0)
                try file.sync()
                synced = round
            }
        }
        #expect(refusal == .keyExhausted && store.seals == Layout.sealLimit && synced < 20)
        #expect(try sealer.open(MemoryDevice(device.bytes)).all() == [synced])
    }

    /// Makes a file's record say that its key has sealed that often.
    private func use(_ path: URL, of workshop: Workshop, until seals: UInt64) async throws {
        let device = try #require(try PosixFile.open(path.path, writing: true))
        try Self.use(device, try await workshop.vault.key(for: workshop.ada), until: seals)
    }

    private static func use(_ device: any StorageDevice, _ key: AccountKey, until seals: UInt64) throws {
        let header = try SealedHeader(of: device)
        let store = try SealedStore.open(
            on: device, header: header, contentKey: try header.contentKey(under: key), backend: .preferred)
        try store.prepareForWriting()
        store.seals = seals
        let file = SealedFile(store, writable: true)
        try file.write([9], at: 5)
        try file.close()
    }
}

/// What a file's newest commit record says, without any key.
enum CommitRecordOnDisk {
    static func newest(_ device: MemoryDevice) -> CommitRecord? {
        (0...1).compactMap { index in
            let page = RawMemory(device.bytes[Int(Layout.recordOffsets[index])...].prefix(Layout.recordPage))
            return CommitRecord.claim(in: page, index: index, chunkSize: 4096)
        }.max { $0.generation < $1.generation }
    }
}
