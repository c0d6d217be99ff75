/// Events that an app sends together (SRV-CI-023).
public struct TelemetryBatch: Sendable, Codable, Equatable {
    /// The events, oldest first.
    public var events: [ReportedEvent]

    /// The most events in one batch.
    public static let mostEvents = 500
    /// The most bytes of one batch.
    public static let largestBody = 256 << 10

    /// Makes a batch.
    public init(events: [ReportedEvent]) {
        self.events = events
    }
}

extension ReportedEvent {
    /// The most amounts or words of one event.
    public static let mostDetails = 16

    /// Why the event must not be kept, nil when it may: a refused data type, or a detail that could be more than a
    /// number or a short word.
    public var fault: String? {
        guard data.subtracting(.accepted).isEmpty else { return "a data type that is refused" }
        guard !data.isEmpty else { return "no data type" }
        guard amounts.count <= Self.mostDetails, words.count <= Self.mostDetails else { return "too many details" }
        guard (Array(amounts.keys) + Array(words.keys) + Array(words.values)).allSatisfy(Self.isWord) else {
            return "a detail that is not a short word"
        }
        return nil
    }

    /// A text as a short word: each character that no word has becomes `_`, and what is too long is cut. Nil for an empty text.
    package static func word(_ text: String) -> String? {
        let word = String(text.prefix(longestWord).map { isWord(String($0)) ? $0 : "_" })
        return word.isEmpty ? nil : word
    }

    /// Whether a text is 1 to 64 letters, digits and `_.-`: no sentence, path, address or contact fits in.
    static func isWord(_ text: String) -> Bool {
        (1...longestWord).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    private static let longestWord = 64
}
