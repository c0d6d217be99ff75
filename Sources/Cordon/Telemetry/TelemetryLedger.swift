internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
public import Foundation

/// Everything that telemetry ever sent from this device, for the person to read: written before it is sent.
struct TelemetryLedger: Sendable {
    /// One line: an event as it was handed over.
    struct Entry: Codable, Equatable {
        var event: TelemetryEvent
        var sent: Date
        var receiver: Receiver
    }

    /// The receiver of an event.
    enum Receiver: String, Codable {
        case service
        case app
    }

    /// A person's telemetry of a thousand years; a file that is longer is none of Cordon's.
    private static let longest = 1 << 30

    private let file: URL
    /// Taken for every change: what is added while the ledger is rewritten must not be lost.
    private var lock: URL { file.appendingPathExtension("lock") }
    /// Where the former ledger waits until it was overwritten.
    private var aside: URL { file.appendingPathExtension("ended") }

    /// - Throws: ``ProtectionError`` with code `stateUnwritable` when the folder cannot be used.
    init(_ context: ProtectionContext) throws(ProtectionError) {
        let folder = try StateFolder(context.configuration.dataDirectory.appending(path: "telemetry"))
        file = folder.file("ledger").url.deletingPathExtension().appendingPathExtension("jsonl")
    }

    /// Writes events down; false when that failed, and they must not be sent.
    func record(_ events: [TelemetryEvent], to receiver: Receiver, at moment: Date) -> Bool {
        var text = Data()
        for event in events {
            guard let line = try? MessageCoding.encode(Entry(event: event, sent: moment, receiver: receiver)) else {
                return false
            }
            text += line + Data("\n".utf8)
        }
        do {
            return try StateLock.exclusively(lock) { () throws(ProtectionError) in append(text) }
        } catch { return false }
    }

    private func append(_ text: Data) -> Bool {
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // One call, so that two processes do not mix their lines.
        return text.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == text.count
            && fsync(descriptor) == 0
    }

    /// Takes an account's name, and its organisation's, out of every line; the lines stay. What the disk held is overwritten.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    func forget(_ account: AccountID) throws(ProtectionError) {
        try StateLock.exclusively(lock) { () throws(ProtectionError) in
            do {
                // What a kill has left of the time before.
                try endFormer()
                var entries = entries
                guard entries.contains(where: { $0.event.account == account }) else { return }
                var text = Data()
                for index in entries.indices {
                    if entries[index].event.account == account {
                        entries[index].event.account = nil
                        entries[index].event.tenant = nil
                    }
                    guard let line = try? MessageCoding.encode(entries[index]) else { throw FileFailure(EINVAL) }
                    text += line + Data("\n".utf8)
                }
                guard link(file.path, aside.path) == 0 else { throw FileFailure(errno) }
                try DurableFile.replace(file, with: text)
                try endFormer()
            } catch { throw ProtectionError(.stateUnwritable, "the list of telemetry cannot be written") }
        }
    }

    private func endFormer() throws(FileFailure) {
        guard access(aside.path, F_OK) == 0 else { return }
        // The ledger itself, where a kill came before it was replaced.
        if !isSameFile { DurableFile.overwrite(aside) }
        try DurableFile.remove(aside)
        try DurableFile.synchronize(aside.deletingLastPathComponent())
    }

    private var isSameFile: Bool {
        let numbers = [file, aside].map {
            (try? FileManager.default.attributesOfItem(atPath: $0.path))?[.systemFileNumber] as? UInt64
        }
        return numbers[0] != nil && numbers[0] == numbers[1]
    }

    /// The lines, oldest first; the half of a line that a crash cut off is left out.
    var entries: [Entry] {
        let text = (try? DurableFile.read(file, limit: Self.longest)) ?? Data()
        return text.split(separator: UInt8(ascii: "\n")).compactMap {
            try? MessageCoding.decode(Entry.self, from: Data($0))
        }
    }
}

/// One event that was sent, as the person reads it.
public struct SentTelemetry: Sendable, Codable, Equatable {
    /// The event, with every field that was sent.
    public var event: TelemetryEvent
    /// When it was sent.
    public var sent: Date
    /// Whether it went to the organisation's service; otherwise the app took it over.
    public var toService: Bool
}
