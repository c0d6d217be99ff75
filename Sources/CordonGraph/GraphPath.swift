import Foundation

/// A request's path in the one form that routes are written in, whatever way the client spelt it (SRV-OP-002).
///
/// `/Beta//deviceAppManagement/iosManagedAppProtections('T_1')/microsoft.graph.x/assign/` becomes version beta and the
/// parts `deviceAppManagement`, `iosManagedAppProtections`, `T_1`, `assign`.
struct GraphPath: Sendable, Equatable {
    /// The root that was used; one store, two projections (SRV-OP-001).
    enum Version: String, Sendable {
        case v1 = "v1.0"
        case beta
    }

    /// The root that a path begins with, in any case; nil where it isn't one of Graph's.
    static func version(of path: String) -> Version? {
        path.split(separator: "/", maxSplits: 1).first.flatMap { Version(rawValue: $0.lowercased()) }
    }

    /// Longer paths are of no route.
    static let mostParts = 16

    let version: Version
    /// Names and keys in order, without type casts; names are compared without case, keys as they are.
    let parts: [String]
    /// The parts in lower case.
    let folded: [String]
    /// What the brackets of a function at the path's end say, by names in lower case: `(skip=1,top=2)`.
    let arguments: [String: String]
    /// The type that a list at the path's end, or before its `$count`, is cast to, in lower case; nil for all of the list.
    let cast: String?

    /// Reads a path as it stands in the request, still percent-encoded and without its query.
    init?(_ path: String) {
        var pieces = path.split(separator: "/")
        guard !pieces.isEmpty, pieces.count <= Self.mostParts,
            let version = Version(rawValue: pieces.removeFirst().lowercased())
        else { return nil }
        var parts: [String] = []
        var cast: String?
        for piece in pieces {
            // Decoded after splitting, so that an encoded slash stays inside its key.
            guard let text = String(piece).removingPercentEncoding else { return nil }
            if let type = text.castType {
                cast = type
                continue
            }
            guard let read = Self.parts(of: text) else { return nil }
            parts += read
            if text.lowercased() != "$count" { cast = nil }
        }
        self.version = version
        self.cast = cast
        arguments = pieces.last.flatMap { String($0).removingPercentEncoding }.map(Self.arguments) ?? [:]
        self.parts = parts
        self.folded = parts.map { $0.lowercased() }
    }

    /// One piece between slashes: a name, `name('key')` or `name()`.
    private static func parts(of text: String) -> [String]? {
        guard text.hasSuffix(")"), let open = text.firstIndex(of: "(") else { return [text.namespaced ?? text] }
        let name = String(text[..<open])
        let inside = text[text.index(after: open)...].dropLast()
        guard !name.isEmpty else { return nil }
        let plain = name.namespaced ?? name
        // Without quotes, what stands in brackets are arguments of a function: a key there would be the whole list.
        guard inside.hasPrefix("'") else { return inside.isEmpty || Self.takesArguments(plain) ? [plain] : nil }
        guard inside.count >= 2, inside.hasSuffix("'") else { return nil }
        return [plain, String(inside.dropFirst().dropLast()).replacing("''", with: "'")]
    }

    /// Whether the path ends at a function that is told something, in brackets or by options.
    var isOfFunction: Bool { parts.last.map(Self.takesArguments) ?? false }

    /// Whether what is called so is a function that is told something in brackets; `groups(uniqueName='a')` is a key.
    private static func takesArguments(_ name: String) -> Bool {
        name.lowercased() == "exportdeviceandappmanagementdata"
    }

    private static func arguments(of text: String) -> [String: String] {
        guard text.hasSuffix(")"), let open = text.firstIndex(of: "(") else { return [:] }
        // Microsoft's package for Python leaves the comma out: `(skip=1top=2)`.
        let inside = text[text.index(after: open)...].dropLast().replacing(/([0-9])([A-Za-z]+=)/) { "\($0.1),\($0.2)" }
        let pairs = inside.split(separator: ",").map {
            $0.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        }
        return pairs.reduce(into: [:]) { arguments, pair in
            if pair.count == 2 { arguments[pair[0].lowercased()] = pair[1] }
        }
    }

    /// What stands for `*` in a pattern that this path matches, nil when it does not.
    ///
    /// - Parameter pattern: Names in lower case, and `*`.
    func matches(_ pattern: [String]) -> [String]? {
        guard pattern.count == parts.count else { return nil }
        var keys: [String] = []
        for (index, wanted) in pattern.enumerated() {
            if wanted == "*" {
                keys.append(parts[index])
            } else if wanted != folded[index] {
                return nil
            }
        }
        return keys
    }
}

extension String {
    /// What follows the namespace of Graph's types, nil where there is none.
    fileprivate var namespaced: String? {
        lowercased().hasPrefix("microsoft.graph.") ? String(dropFirst("microsoft.graph.".count)) : nil
    }

    /// The type that a piece of a path casts to, in lower case; nil where it is a name or a key. Microsoft's packages write `graph.user`.
    fileprivate var castType: String? {
        let text = lowercased()
        let name = namespaced?.lowercased() ?? (text.hasPrefix("graph.") ? String(text.dropFirst("graph.".count)) : "")
        return EntityType.castable.contains(name) ? name : nil
    }
}
