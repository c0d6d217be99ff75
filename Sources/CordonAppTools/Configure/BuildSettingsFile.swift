public import Foundation

/// The settings of an `.xcconfig` file and of those it includes, for the build variables of property lists.
///
/// A setting may use others; a later one of a name goes before an earlier one. Settings with a condition, such as
/// `NAME[sdk=iphoneos*]`, depend on a build and are left out.
public struct BuildSettingsFile: Sendable {
    /// The values by their names, build variables of the file itself replaced.
    public let settings: [String: String]

    private static let deepestInclude = 8

    /// Reads a file.
    /// - Throws: ``AppToolsError`` `missing` for a file that is not there, `malformed` with the line that is not a setting.
    public init(contentsOf url: URL) throws(AppToolsError) {
        var raw: [String: String] = [:]
        try Self.read(url, into: &raw, depth: 0)
        var values = raw
        // Each round replaces one level; what refers to itself never ends and stays as it is.
        for _ in 0..<Self.deepestInclude {
            let known = BuildVariables(defines: values.filter { !BuildVariables.isIn($0.value) })
            for (name, text) in values where BuildVariables.isIn(text) {
                if let expanded = known.expand(text) { values[name] = expanded }
            }
        }
        settings = values.filter { !BuildVariables.isIn($0.value) }
    }

    private static func read(_ url: URL, into raw: inout [String: String], depth: Int) throws(AppToolsError) {
        guard depth < deepestInclude else {
            throw AppToolsError(.malformed, "includes files too deeply", at: url.path)
        }
        let text = String(decoding: try InputFile.map(url, limit: 1 << 20), as: UTF8.self)
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: { ["\n", "\r", "\r\n"].contains($0) })
        for (index, line) in lines.enumerated() {
            let line = (line.range(of: "//").map { line[..<$0.lowerBound] } ?? line)
                .trimmingCharacters(in: .whitespaces)
            let place = "\(url.path): line \(index + 1)"
            if line.isEmpty { continue }
            if line.hasPrefix("#include") {
                try include(line, of: url, into: &raw, depth: depth, place)
                continue
            }
            guard let equals = line.firstIndex(of: "=") else {
                throw AppToolsError(.malformed, "is not NAME = VALUE", at: place)
            }
            let name = line[..<equals].trimmingCharacters(in: .whitespaces)
            if name.contains("[") { continue }
            let value = line[line.index(after: equals)...].trimmingCharacters(in: .whitespaces)
            raw[name] = ["$(inherited)", "${inherited}"].reduce(value) {
                $0.replacingOccurrences(of: $1, with: raw[name] ?? "")
            }
        }
    }

    private static func include(
        _ line: String, of url: URL, into raw: inout [String: String], depth: Int, _ place: String
    ) throws(AppToolsError) {
        let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw AppToolsError(.malformed, "includes no file by name", at: place) }
        let other = URL(fileURLWithPath: String(parts[1]), relativeTo: url.deletingLastPathComponent()).absoluteURL
        let isOptional = parts[0].trimmingCharacters(in: .whitespaces).hasSuffix("?")
        if isOptional, !InputFile.kind(of: other).exists { return }
        try read(other, into: &raw, depth: depth + 1)
    }
}
