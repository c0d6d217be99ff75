internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
public import Foundation

/// What telemetry sent from this device, or tried to send, for the person to read: each event is written once, before it is sent for the
/// first time.
///
/// It is plain, and proves nothing: an attacker who can write to the folder can change what the person reads, and nothing that is sent.
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

    /// Some two hundred thousand events; of a longer file the newest half of this is kept.
    private static let longest = 1 << 26

    /// Puts what was added on the disk; false where that failed.
    var flush: @Sendable (Int32) -> Bool = { fsync($0) == 0 }

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

    /// Writes events down, before they are sent for the first time; false when that failed, and they must not be sent.
    func record(_ events: [TelemetryEvent], to receiver: Receiver, at moment: Date) -> Bool {
        guard !events.isEmpty else { return true }
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
        do {
            // Of a change that a crash cut off, which leaves two names.
            try endFormer()
            var descriptor = try opened()
            if lseek(descriptor, 0, SEEK_END) > Self.longest {
                close(descriptor)
                try DurableFile.replace(file, with: try contents(atMost: Self.longest / 2))
                descriptor = try opened()
            }
            defer { close(descriptor) }
            let size = lseek(descriptor, 0, SEEK_END)
            guard DurableFile.append(text, to: descriptor) else { return false }
            if flush(descriptor) { return true }
            // They are written again before they are sent, and stand here once.
            if size >= 0 { _ = ftruncate(descriptor, size) }
            return false
        } catch { return false }
    }

    private func opened() throws(FileFailure) -> Int32 {
        do { return try DurableFile.openForAppending(file) } catch {
            // A pipe, a folder, or another file's second name: it makes room.
            StateFile(url: file).setAside()
            return try DurableFile.openForAppending(file)
        }
    }

    /// Takes an account's name, and its organisation's, out of every line; the lines stay. What the disk held is overwritten.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    func forget(_ account: AccountID) throws(ProtectionError) {
        try StateLock.exclusively(lock) { () throws(ProtectionError) in
            do {
                // What a kill has left of the time before.
                try endFormer()
                try removeDrafts()
                let bytes = try contents()
                var entries = Self.entries(in: bytes)
                // Also in half of a line that a crash cut off.
                let isNamed = bytes.range(of: Data(account.rawValue.utf8)) != nil
                guard isNamed || entries.contains(where: { $0.event.account == account }) else { return }
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
        do { guard try DurableFile.head(of: aside, 0) != nil else { return } } catch {
            // What no ledger was goes too.
        }
        // The ledger itself, where a kill came before it was replaced.
        if !isSameFile { DurableFile.overwrite(aside) }
        do { try StateFile(url: aside).remove() } catch { throw FileFailure(EIO) }
    }

    /// Drafts of a change that a kill has cut off may name any account that the ledger named then.
    private func removeDrafts() throws(FileFailure) {
        let folder = file.deletingLastPathComponent()
        let start = ".\(file.lastPathComponent)."
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        where name.hasPrefix(start) && name.hasSuffix(StateFile.draftSuffix) {
            let draft = folder.appending(path: name)
            DurableFile.overwrite(draft)
            try DurableFile.remove(draft)
        }
    }

    private var isSameFile: Bool {
        let numbers = [file, aside].map {
            (try? FileManager.default.attributesOfItem(atPath: $0.path))?[.systemFileNumber] as? UInt64
        }
        return numbers[0] != nil && numbers[0] == numbers[1]
    }

    /// The lines, oldest first; the half of a line that a crash cut off is left out.
    var entries: [Entry] { Self.entries(in: (try? contents()) ?? Data()) }

    private static func entries(in bytes: Data) -> [Entry] {
        bytes.split(separator: UInt8(ascii: "\n")).compactMap {
            // Refused here at once: the decoder is slow with a line that the ledger did not write.
            guard $0.starts(with: Data(#"{"event":"#.utf8)) else { return nil }
            return try? MessageCoding.decode(Entry.self, from: Data($0))
        }
    }

    /// The newest lines; none where what is there is no file of Cordon's.
    private func contents(atMost count: Int = TelemetryLedger.longest) throws(FileFailure) -> Data {
        do {
            let (bytes, isWhole) = try DurableFile.tail(of: file, count)
            return isWhole ? bytes : Data(bytes.drop { $0 != UInt8(ascii: "\n") }.dropFirst())
        } catch {
            guard StateFile.isNone(error) else { throw error }
            return Data()
        }
    }
}

/// One event that Cordon sent or tried to send, as the person reads it.
///
/// Cordon notes it once, before the first attempt, however many follow; it may not have arrived.
public struct SentTelemetry: Sendable, Codable, Equatable {
    /// The event, with every field that is sent.
    public var event: TelemetryEvent
    /// When Cordon first tried to send it.
    public var sent: Date
    /// Whether it went to the organisation's service; otherwise to the app's own sender.
    public var toService: Bool
}
