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

    /// Who got an event.
    enum Receiver: String, Codable {
        case service
        case app
    }

    private let file: URL

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
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // One call, so that two processes do not mix their lines.
        return text.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == text.count
            && fsync(descriptor) == 0
    }

    /// The lines, oldest first; the half of a line that a crash cut off is left out.
    var entries: [Entry] {
        let text = (try? Data(contentsOf: file)) ?? Data()
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
