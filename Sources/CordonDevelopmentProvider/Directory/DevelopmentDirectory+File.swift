public import CordonProtocol
public import Foundation

extension DevelopmentDirectory {
    static let largestFile = 16 << 20

    /// Reads and validates a directory file.
    ///
    /// - Throws: ``ProgramError`` with code `fileUnreadable`, `fileNotPrivate` or `directoryInvalid`; the
    ///   place holds the path and, inside the document, the value.
    public static func load(from file: URL) throws(ProgramError) -> DevelopmentDirectory {
        let bytes = try ProviderPrivateFile.read(file, atMost: largestFile)
        do {
            let directory = try JSONDecoder().decode(DevelopmentDirectory.self, from: bytes)
            try directory.validate()
            return directory
        } catch let error as ProgramError {
            throw ProgramError(
                error.code, reason: error.reason, place: "\(file.path): \(error.place)", hint: error.hint)
        } catch let error as DecodingError {
            let (place, reason) = describe(error)
            throw ProgramError(
                .directoryInvalid, reason: reason, place: "\(file.path): \(place)",
                hint: "correct the value, or remove the file to have a new one made")
        } catch {
            throw ProgramError(
                .directoryInvalid, reason: "the file is not JSON", place: file.path,
                hint: "correct it, or remove the file to have a new one made")
        }
    }

    /// Validates and writes the directory, readable by its owner only. A reader, or a crash, meets the old file or the
    /// new one and nothing between.
    ///
    /// - Throws: ``ProgramError`` with code `directoryInvalid` or `fileUnwritable`; the old file then stands.
    public func save(to file: URL) throws(ProgramError) {
        try validate()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let bytes = try? encoder.encode(self) else {
            throw ProgramError(
                .directoryInvalid, reason: "the directory cannot be written as JSON", place: file.path,
                hint: "check its names for text that is not Unicode")
        }
        try ProviderPrivateFile.write(bytes, to: file)
    }

    private static func describe(_ error: DecodingError) -> (place: String, reason: String) {
        switch error {
        case .keyNotFound(let key, let context): (path(context.codingPath + [key]), "is missing")
        case .typeMismatch(_, let context): (path(context.codingPath), "has the wrong type")
        case .valueNotFound(_, let context): (path(context.codingPath), "must not be null")
        case .dataCorrupted(let context): (path(context.codingPath), context.debugDescription)
        @unknown default: ("document", "cannot be read")
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        let text = keys.reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : "." + key.stringValue
            }
        }
        return text.isEmpty ? "document" : text
    }
}
