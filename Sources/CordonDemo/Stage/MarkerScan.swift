public import CordonProtocol
internal import Foundation

/// Looks for planted plaintext in every file below a folder.
///
/// A scanner that finds nothing proves nothing by itself: plant the same markers in the clear and see it find them all.
public struct MarkerScan: Sendable {
    /// What a scan saw.
    public struct Finding: Sendable, Codable, Equatable {
        /// How many different markers were found.
        public var markers = 0
        /// How many files were read.
        public var files = 0
        /// How many bytes were read.
        public var bytes = 0
    }

    /// The markers, each 32 characters long and so distinct that none is a part of another.
    public let markers: [String]

    /// Makes markers from a seed; the same seed makes the same ones.
    public init(count: Int, seed: UInt64) {
        var generator = SplitMix64(state: seed)
        markers = (0..<count).map { _ in
            String(generator.next(), radix: 16).leftPadded(to: 16)
                + String(generator.next(), radix: 16).leftPadded(to: 16)
        }
    }

    /// Reads every regular file below the folder and counts the markers in it, in whatever place they stand.
    ///
    /// - Throws: ``ProgramError`` when a file cannot be read.
    public func scan(_ folder: String) throws(ProgramError) -> Finding {
        var finding = Finding()
        var found: Set<Substring> = []
        let known = Set(markers.map { $0[...] })
        for path in try Self.files(below: folder) {
            guard let bytes = FileManager.default.contents(atPath: path) else {
                // What was removed after it was listed holds nothing any more.
                guard FileManager.default.fileExists(atPath: path) else { continue }
                throw ProgramError.stage("\(path) cannot be read")
            }
            finding.files += 1
            finding.bytes += bytes.count
            // Markers are runs of 32 hexadecimal digits, so only such runs are looked up.
            var run: [UInt8] = []
            for byte in bytes {
                guard Self.isDigit(byte) else {
                    run.removeAll(keepingCapacity: true)
                    continue
                }
                run.append(byte)
                if run.count > 32 { run.removeFirst() }
                if run.count == 32 {
                    let text = String(decoding: run, as: UTF8.self)
                    if known.contains(text[...]) { found.insert(text[...]) }
                }
            }
        }
        finding.markers = found.count
        return finding
    }

    /// The regular files below a folder, sorted by path; a folder that does not exist has none.
    ///
    /// - Throws: ``ProgramError`` when the folder cannot be listed.
    public static func files(below folder: String) throws(ProgramError) -> [String] {
        guard FileManager.default.fileExists(atPath: folder) else { return [] }
        guard let names = FileManager.default.enumerator(atPath: folder) else {
            throw ProgramError.stage("\(folder) cannot be listed")
        }
        var files: [String] = []
        while let name = names.nextObject() as? String {
            if names.fileAttributes?[.type] as? FileAttributeType == .typeRegular { files.append("\(folder)/\(name)") }
        }
        return files.sorted()
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}

extension String {
    fileprivate func leftPadded(to length: Int) -> String {
        String(repeating: "0", count: Swift.max(0, length - count)) + self
    }
}
