import CordonIdentity
import Foundation

@testable import CordonVault

/// A disk in memory that can fail at a chosen call, and logs what was written when, so that a power cut can be replayed.
final class MemoryDevice: StorageDevice {
    enum Event {
        case write(offset: Int, bytes: [UInt8])
        case truncate(Int)
        case sync
        /// A sync that failed: the system takes what was written for written.
        case lost
    }

    var bytes: [UInt8]
    var log: [Event] = []
    /// Calls made so far, and the one that fails; every later one too when `persistently`.
    var calls = 0
    var failingCall: Int?
    var persistently = false
    /// Whether a failing write leaves its first half behind.
    var tears = false
    /// The kinds of failure met.
    private(set) var failures = 0

    init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    private func step() -> Bool {
        calls += 1
        guard let failingCall, calls == failingCall || (persistently && calls > failingCall) else { return false }
        failures += 1
        return true
    }

    func size() throws(VaultError) -> Int64 {
        if step() { throw VaultError(.inputOutput, "stat failed") }
        return Int64(bytes.count)
    }

    func read(_ memory: UnsafeMutableRawBufferPointer, at offset: Int64) throws(VaultError) -> Int {
        if step() { throw VaultError(.inputOutput, "read failed") }
        guard offset < bytes.count else { return 0 }
        let count = min(memory.count, bytes.count - Int(offset))
        bytes.withUnsafeBytes {
            memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[Int(offset)..<Int(offset) + count]))
        }
        return count
    }

    func write(_ source: UnsafeRawBufferPointer, at offset: Int64) throws(VaultError) {
        if step() {
            if tears { apply(.write(offset: Int(offset), bytes: Array(source.prefix(source.count / 2)))) }
            throw VaultError(.noSpace, "write failed")
        }
        apply(.write(offset: Int(offset), bytes: Array(source)))
    }

    func sync() throws(VaultError) {
        if step() {
            log.append(.lost)
            throw VaultError(.inputOutput, "sync failed")
        }
        log.append(.sync)
    }

    func truncate(to size: Int64) throws(VaultError) {
        if step() { throw VaultError(.inputOutput, "truncate failed") }
        apply(.truncate(Int(size)))
    }

    func close() {}

    private func apply(_ event: Event) {
        log.append(event)
        Self.apply(event, to: &bytes)
    }

    /// Does to an image what an event did to the disk.
    static func apply(_ event: Event, to image: inout [UInt8]) {
        switch event {
        case .write(let offset, let bytes):
            if image.count < offset + bytes.count {
                image += [UInt8](repeating: 0, count: offset + bytes.count - image.count)
            }
            image.withUnsafeMutableBytes { memory in
                bytes.withUnsafeBytes {
                    UnsafeMutableRawBufferPointer(rebasing: memory[offset...]).copyMemory(from: $0)
                }
            }
        case .truncate(let size):
            if size < image.count {
                image.removeLast(image.count - size)
            } else {
                image += [UInt8](repeating: 0, count: size - image.count)
            }
        case .sync, .lost: break
        }
    }
}

/// One account key and files sealed under it on memory devices.
struct Sealer {
    let key = AccountKey(account: "ada@example.test", id: SecureRandom.bytes(16), secret: .random())

    func create(on device: MemoryDevice, chunkSize: Int = 4096, backend: CipherBackend = .preferred) throws
        -> SealedFile
    {
        let (header, contentKey) = try SealedHeader.make(owner: key.account, accountKey: key, chunkSize: chunkSize)
        return SealedFile(
            try SealedStore.create(on: device, header: header, contentKey: contentKey, backend: backend), writable: true
        )
    }

    func open(
        _ device: MemoryDevice, writing: Bool = false, backend: CipherBackend = .preferred, recovering: Bool = false
    ) throws -> SealedFile {
        try Self.open(device, keys: [key], writing: writing, backend: backend, recovering: recovering)
    }

    static func open(
        _ device: MemoryDevice, keys: [AccountKey], writing: Bool = false, backend: CipherBackend = .preferred,
        recovering: Bool = false
    ) throws -> SealedFile {
        let header = try SealedHeader(of: device)
        guard let key = keys.first(where: { $0.id == header.accountKeyID }) else {
            throw VaultError(.wrongKey, "no such key")
        }
        let store = try SealedStore.open(
            on: device, header: header, contentKey: try header.contentKey(under: key), backend: backend,
            recovering: recovering)
        if writing { try store.prepareForWriting() }
        return SealedFile(store, writable: writing)
    }

    /// A complete file with this content.
    func image(_ content: [UInt8], chunkSize: Int = 4096) throws -> [UInt8] {
        let device = MemoryDevice()
        let file = try create(on: device, chunkSize: chunkSize)
        try file.write(content, at: 0)
        try file.close()
        return device.bytes
    }
}
