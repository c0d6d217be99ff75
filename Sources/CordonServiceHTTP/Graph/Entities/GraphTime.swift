import CordonPolicy
import Foundation

/// Times as Graph writes them: UTC, suffix `Z`, at most six fractional digits (SRV-RS-005).
enum GraphTime {
    static func text(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    static func value(_ date: Date) -> JSONValue { .string(text(date)) }

    /// The form that error envelopes use: no zone (SRV-OP-023).
    static func plain(_ date: Date) -> String {
        String(date.formatted(Date.ISO8601FormatStyle()).dropLast())
    }
}
