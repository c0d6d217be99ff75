public import Foundation

/// Certificate pins of one account, by host (SDK-CP-01, SDK-CP-02).
///
/// A pin is the SHA-256 of a certificate's public key; the caller computes it.
public struct CertificatePins: Sendable, Equatable {
    /// The key of an app configuration that carries pins: a JSON object, also as text, with a list of pins for each host. A host
    /// is a name in ASCII or an IPv4 address, without `*` and port; a pin is the SHA-256 of a public key info in base64 or base64url,
    /// `sha256/` before it or not.
    public static let configurationKey = "CordonCertificatePins"

    /// What pins say of a chain.
    public enum Answer: Sendable, Hashable, CaseIterable {
        /// Nothing is against it.
        case accepted
        /// None of its keys is pinned, and others are.
        case refused
        /// The pins cannot be read, or are of another kind; until an administrator mends them the chain may not be used.
        case notUnderstood
    }

    /// What one source asks for; nil for what cannot be read, which every host has to do with.
    private var sources: [[String: Set<Data>]?]

    /// Takes pins by host name; letter case does not matter. A pin that is no SHA-256 matches nothing, and beside a host that no connection
    /// is called by, such as `*.example.org`, no chain is accepted for any host.
    public init(_ pins: [String: Set<Data>] = [:]) {
        sources = Self.byName(pins)
    }

    /// Takes the pins that app configurations carry under ``configurationKey``; where several do, all of them hold.
    public init(_ configuration: AppConfiguration) {
        sources = configuration.values(for: Self.configurationKey).flatMap { Self.read($0).map(Self.byName) ?? [nil] }
    }

    /// Whether a value can be read as pins.
    public static func understands(_ value: JSONValue) -> Bool {
        read(value).map(byName)?.allSatisfy { $0?.values.allSatisfy { !$0.contains(unreadable) } ?? false } ?? false
    }

    /// Both together: a chain has to satisfy each of them.
    public func joined(with other: CertificatePins) -> CertificatePins {
        var all = self
        all.sources += other.sources
        return all
    }

    /// Those that name hosts: what cannot be read as a whole, which every host has to do with, is left out.
    package var named: CertificatePins {
        var pins = self
        pins.sources.removeAll { $0 == nil }
        return pins
    }

    /// Whether there is any pin.
    public var isEmpty: Bool { sources.allSatisfy { $0?.isEmpty ?? false } }

    /// Whether a chain may be used for a host: where one of its keys is pinned, or the host has no pins.
    ///
    /// - Parameters:
    ///   - chain: The SHA-256 of each certificate's public key info.
    ///   - host: The name that the connection asked for.
    public func answer(to chain: [Data], for host: String) -> Answer {
        let name = Self.name(host)
        var isUnderstood = true
        for source in sources {
            guard let source else {
                isUnderstood = false
                continue
            }
            guard let pins = source[name], !chain.contains(where: { pins.contains($0) }) else { continue }
            guard pins.contains(Self.unreadable) else { return .refused }
            isUnderstood = false
        }
        return isUnderstood ? .accepted : .notUnderstood
    }

    /// Stands for a pin that is not the SHA-256 of anything; no key has it.
    private static let unreadable = Data()

    private static func read(_ value: JSONValue) -> [String: Set<Data>]? {
        var value = value
        if let text = value.string {
            guard let parsed = try? JSONValue(parsing: Data(text.utf8)) else { return nil }
            value = parsed
        }
        guard let hosts = value.object else { return nil }
        var pins: [String: Set<Data>] = [:]
        for (host, list) in hosts {
            guard let list = list.array else { return nil }
            pins[host] = Set(list.map { $0.string.flatMap(digest) ?? unreadable })
        }
        return pins
    }

    /// The SHA-256 that a pin is, by either alphabet of base64, padded or not.
    private static func digest(_ text: String) -> Data? {
        let prefix = "sha256/"
        var digits = String(text.hasPrefix(prefix) ? text.dropFirst(prefix.count) : text[...])
        digits = String(digits.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }.prefix { $0 != "=" })
        digits += String(repeating: "=", count: (4 - digits.count % 4) % 4)
        guard let digest = Data(base64Encoded: digits), digest.count == 32 else { return nil }
        return digest
    }

    /// The pins by what connections call their hosts; beside them nil where it cannot be told which further hosts are meant.
    private static func byName(_ pins: [String: Set<Data>]) -> [[String: Set<Data>]?] {
        var named: [String: Set<Data>] = [:]
        var isWhole = true
        for (host, pins) in pins {
            let name = Self.name(host)
            guard isHost(name) else {
                isWhole = false
                continue
            }
            // Nobody lists a host to leave it unpinned.
            named[name, default: []].formUnion(pins.isEmpty ? [unreadable] : pins)
        }
        return (named.isEmpty ? [] : [named]) + (isWhole ? [] : [nil])
    }

    private static func isHost(_ name: String) -> Bool {
        name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            !label.isEmpty
                && label.utf8.allSatisfy { byte in
                    (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x5F
                }
        }
    }

    private static func name(_ host: String) -> String {
        let name = host.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }
}
