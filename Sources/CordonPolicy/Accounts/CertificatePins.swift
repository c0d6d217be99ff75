public import Foundation

/// Certificate pins of one account, by host (SDK-CP-01, SDK-CP-02).
///
/// A pin is the SHA-256 of a certificate's public key; the caller computes it.
public struct CertificatePins: Sendable, Equatable {
    private let pins: [String: Set<Data>]

    /// Takes pins by host name; letter case does not matter.
    public init(_ pins: [String: Set<Data>] = [:]) {
        self.pins = Dictionary(pins.map { (Self.name($0.key), $0.value) }, uniquingKeysWith: { $0.union($1) })
    }

    /// Whether there is any pin.
    public var isEmpty: Bool { pins.allSatisfy(\.value.isEmpty) }

    /// Whether a chain may be used for a host: true when one of its keys is pinned, or the host has no pins.
    public func accepts(chain: [Data], for host: String) -> Bool {
        guard let pinned = pins[Self.name(host)], !pinned.isEmpty else { return true }
        return chain.contains { pinned.contains($0) }
    }

    private static func name(_ host: String) -> String {
        let name = host.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }
}
