public import Foundation

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Looks for values that a test planted: in every file and every name below a folder, and in the memory of another process.
///
/// An app's own tests show with it that nothing of a person stays after a sign-out or a wipe, and that what is stored is sealed:
///
/// ```swift
/// let scan = LeakScan(count: 20, seed: 7)
/// try await app.write(scan.texts.joined(separator: " "), account: ada)
/// #expect(try scan.leaks(below: appFolder).texts == 0)
/// ```
///
/// A value is found as it is, in UTF-16, in hexadecimal digits, and in base64 at any alignment. A scan that finds nothing proves nothing
/// by itself: plant the same values in the clear and see it find them all. It cannot see through compression or encryption, and reads no
/// extended attributes.
///
/// Source: SI-069.
public struct LeakScan: Sendable {
    /// The planted texts, where the scan was made from texts; empty where it was made from bytes.
    public let texts: [String]
    private let needles: Needles

    /// A scan for texts that the caller chose.
    ///
    /// Nil where a text has fewer than eight bytes in UTF-8, or in UTF-16: it would be found by chance.
    public init?(texts: [String]) {
        guard let needles = Needles(texts.map { Data($0.utf8) }) else { return nil }
        self.texts = texts
        self.needles = needles
    }

    /// A scan for values that are no texts, such as keys.
    ///
    /// Nil where a value has fewer than eight bytes, or is a text that has fewer in UTF-16: it would be found by chance.
    public init?(values: [Data]) {
        guard let needles = Needles(values) else { return nil }
        texts = []
        self.needles = needles
    }

    /// A scan for texts of 32 hexadecimal digits, made from a seed; the same seed makes the same texts, and none twice.
    public init(count: Int, seed: UInt64) {
        var state = seed
        texts = (0..<max(0, count)).map { _ in Self.digits(&state) + Self.digits(&state) }
        needles = Needles(checked: texts.map { Data($0.utf8) })
    }

    /// What of the values stands below a folder, in the contents of its files, in the names of whatever is there and in where links lead;
    /// a folder that does not exist has none.
    ///
    /// Links are not followed. A file that vanishes while it is looked at holds nothing any more.
    ///
    /// - Throws: `CocoaError` where the folder, one below it or a file cannot be looked at or read, or has a name that is not UTF-8: what is
    ///   in there is not known.
    public func leaks(below folder: URL) throws -> Leaks {
        var leaks = Leaks()
        for (path, type) in try Self.entries(below: folder.path) {
            var search = LeakSearch(needles)
            search.read(Data(path.utf8.dropFirst(folder.path.utf8.count)))
            if type == .typeRegular {
                do {
                    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
                    defer { try? file.close() }
                    search.begin()
                    while let part = try file.read(upToCount: 1 << 20), !part.isEmpty { search.read(part) }
                } catch {
                    guard try Self.isGone(path) else { throw error }
                    continue
                }
                leaks.files += 1
            } else if type == .typeSymbolicLink {
                // Its bytes, which need not be UTF-8.
                var target = [CChar](repeating: 0, count: Int(PATH_MAX))
                let count = readlink(path, &target, target.count)
                guard count >= 0 else {
                    guard try Self.isGone(path) else {
                        throw CocoaError(.fileReadUnknown, userInfo: [NSFilePathErrorKey: path])
                    }
                    continue
                }
                search.begin()
                search.read(Data(target.prefix(count).map { UInt8(bitPattern: $0) }))
            }
            leaks.add(search, at: path)
        }
        return leaks
    }

    /// What of the values stands in the writable memory of another process of the same user. Linux alone.
    ///
    /// - Throws: `CocoaError`: the system does not let the memory be read (`kernel.yama.ptrace_scope` above 1, for one), has no such
    ///   process, or does not show memory at all; or the process is this one, whose memory holds the values of the scan itself.
    public func leaks(inProcess id: Int32) throws -> Leaks {
        var leaks = Leaks()
        var search = LeakSearch(needles)
        try ProcessRegions(of: id).forEach { isStart, part in
            if isStart { search.begin() }
            search.read(part)
        }
        leaks.add(search, at: "process \(id)")
        return leaks
    }

    /// The regular files below a folder, sorted by path; a folder that does not exist has none.
    ///
    /// - Throws: `CocoaError` where the folder, or one below it, cannot be listed, or what lies there cannot be looked at.
    public static func files(below folder: String) throws -> [String] {
        try entries(below: folder).filter { $0.type == .typeRegular }.map(\.path)
    }

    /// Everything below a folder, sorted by path, and what each is.
    private static func entries(below folder: String) throws -> [(path: String, type: FileAttributeType?)] {
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
            // It may have vanished since its own folder was listed.
            guard try isGone(folder) else { throw error }
            return []
        }
        let entries = try names.flatMap { name -> [(path: String, type: FileAttributeType?)] in
            let path = "\(folder)/\(name)"
            let type: FileAttributeType?
            do { type = try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType } catch {
                guard try isGone(path) else { throw error }
                return []
            }
            let below = type == .typeDirectory ? try Self.entries(below: path) : []
            return [(path, type)] + below
        }
        return entries.sorted { $0.path < $1.path }
    }

    /// Whether what could not be looked at is not there any more; false where the system does not say so.
    ///
    /// - Throws: `CocoaError` where it is listed under another name than it has, by which nothing finds it.
    private static func isGone(_ path: String) throws -> Bool {
        var status = stat()
        guard lstat(path, &status) != 0, errno == ENOENT || errno == ENOTDIR else { return false }
        if (path as NSString).lastPathComponent.contains("\u{FFFD}") {
            throw CocoaError(.fileReadInvalidFileName, userInfo: [NSFilePathErrorKey: path])
        }
        return true
    }

    /// The next 16 digits of SplitMix64, of which each state gives another value.
    private static func digits(_ state: inout UInt64) -> String {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        let digits = String(value ^ (value >> 31), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
