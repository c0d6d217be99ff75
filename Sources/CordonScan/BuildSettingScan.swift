/// Reads build settings for the keys of the property list that a build makes of them: `INFOPLIST_KEY_UIFileSharingEnabled = YES`.
extension MarkupScan {
    /// Whether a file holds build settings: the one of an Xcode project, or an `.xcconfig`.
    static func isSettings(_ path: String) -> Bool {
        let path = path.lowercased()
        return path.hasSuffix(".pbxproj") || path.hasSuffix(".xcconfig")
    }

    private static let longestLine = 4_096

    func settings() -> FileScan.Result {
        var result = FileScan.Result()
        var places = SourceText.Places()
        let reader = MarkupReader(file.text)
        var start = 0
        while start < file.text.count {
            let end = reader.nextLine(after: start)
            let line = file.text.text(start..<min(end, start + Self.longestLine))
            let comment = line.firstRange(of: "//")?.lowerBound ?? line.endIndex
            let place = places.place(of: start, in: file.text)
            if var waiver = ScanWaiver(comment: String(line[comment...]), path: file.path, place) {
                // One on a line of its own speaks of the line below.
                waiver.lines = place.line...place.line + (line[..<comment].allSatisfy(\.isWhitespace) ? 1 : 0)
                result.waivers.append(waiver)
            }
            if let (key, value, offset) = Self.key(in: line[..<comment]) {
                judge(key, "string", value, "", start + offset, &result, &places)
            }
            start = end
        }
        result.lines = places.place(of: file.text.count, in: file.text).line
        return result
    }

    /// The key that a line sets, its value, and where in the line it stands. A condition such as `[sdk=iphoneos*]` may follow the key.
    private static func key(in line: Substring) -> (key: String, value: String, offset: Int)? {
        guard let mark = line.firstRange(of: "INFOPLIST_KEY_") else { return nil }
        let key = line[mark.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        var rest = line[key.endIndex...]
        if rest.first == "[" { rest = rest.drop { $0 != "]" }.dropFirst() }
        rest = rest.drop { $0 == "\"" || $0.isWhitespace }
        guard rest.first == "=" else { return nil }
        let value = rest.dropFirst().filter { $0 != "\"" && $0 != ";" && !$0.isWhitespace }
        return (String(key), String(value), line[..<mark.lowerBound].utf8.count)
    }
}
