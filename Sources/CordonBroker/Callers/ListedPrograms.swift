#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    // In a graph with NIO, the compiler finds the members of `stat` through this module.
    internal import CoreFoundation
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

#if canImport(CoreFoundation)
    internal import CoreFoundation
#endif

#if canImport(CDispatch)
    internal import CDispatch
#endif

/// Why a program is not the one that the list means, although it runs under a listed path.
enum ProgramObjection: Sendable, Hashable {
    /// Nothing lies at the path here; the program sees another file system than the broker.
    case missing
    /// The path is a symbolic link, or leads over one.
    case link
    /// What lies at the path is no regular file.
    case noFile
    /// What runs is another file than the one at the path.
    case anotherFile
    /// The caller could change the file, or put another in its place.
    case changeable
    /// The file is too large to compute a digest of.
    case tooLarge

    /// The reason, for logs and for whoever is refused.
    var reason: String {
        switch self {
        case .missing: "no file lies at the listed path"
        case .link: "the listed path is, or leads over, a symbolic link; list the file itself"
        case .noFile: "what lies at the listed path is no regular file"
        case .anotherFile: "the program that runs is not the file at the listed path"
        case .changeable: "the program's own user can change the file at the listed path, or replace it"
        case .tooLarge: "the file at the listed path is too large for a digest"
        }
    }
}

/// The programs of the list, as they lie in the broker's own file system.
///
/// The text of `/proc/PID/exe` proves nothing: in a mount namespace, which any user may make, every file can have every
/// path. What counts is that the file that runs is the very file that the broker finds at the path.
struct ListedPrograms: Sendable {
    private let paths: Set<String>
    private let digested: Set<String>
    /// Whether the device's user may own the programs: whoever develops an app does.
    private let isDevelopment: Bool

    init(_ configuration: BrokerConfiguration) {
        paths = Set(configuration.apps.map(\.path))
        digested = Set(configuration.apps.filter { $0.sha256 != nil }.map(\.path))
        isDevelopment = configuration.isDevelopment
    }

    /// Whether anybody asks for the digest of the program at the path.
    func wantsDigest(of path: String) -> Bool { digested.contains(path) }

    /// What speaks against a program that runs under a listed path; nil for nothing, and for a path that is not listed.
    ///
    /// - Parameters:
    ///   - user: The caller's user.
    ///   - groups: The caller's groups; nil where the system does not say, which counts as all of them.
    func objection(
        to program: ProgramIdentity, at path: String, of user: UInt32, in groups: () -> Set<UInt32>?
    ) -> ProgramObjection? {
        guard paths.contains(path) else { return nil }
        switch Self.look(at: path, as: isDevelopment ? nil : (user, groups())) {
        case .file(let listed): return program.isFile(listed) ? nil : .anotherFile
        case .objection(let objection): return objection
        }
    }

    /// Paths at which a program can never be served, whoever runs it, each with the reason. A program that is not installed
    /// is no mistake: one list serves many devices.
    var mistakes: [(path: String, objection: ProgramObjection)] {
        paths.sorted().compactMap { path in
            guard case .objection(let objection) = Self.look(at: path, as: isDevelopment ? nil : (nobody, [])),
                objection != .missing
            else { return nil }
            return (path, objection)
        }
    }

    /// A user id that owns nothing.
    private var nobody: UInt32 { .max }

    private enum Finding {
        case file(stat)
        case objection(ProgramObjection)
    }

    /// The file at a path, and whether it is one that the list can mean.
    ///
    /// - Parameter caller: User and groups that must not be able to change the file; nil where that does not matter.
    private static func look(
        at path: String, as caller: (user: UInt32, groups: Set<UInt32>?)?
    ) -> Finding {
        var facts = stat()
        var place = ""
        // The folders from the top, then the file: who can change one of them decides what lies at the path.
        let parts: [Substring] = [""] + path.split(separator: "/")
        for part in parts {
            if !part.isEmpty { place += "/\(part)" }
            guard lstat(place.isEmpty ? "/" : place, &facts) == 0 else { return .objection(.missing) }
            if facts.st_mode & S_IFMT == S_IFLNK { return .objection(.link) }
            if let caller, isChangeable(facts, by: caller.user, in: caller.groups) {
                return .objection(.changeable)
            }
        }
        guard facts.st_mode & S_IFMT == S_IFREG else { return .objection(.noFile) }
        return .file(facts)
    }

    private static func isChangeable(_ facts: stat, by user: UInt32, in groups: Set<UInt32>?) -> Bool {
        if facts.st_uid == user { return true }
        // In a sticky folder, such as /tmp, nobody replaces what belongs to somebody else.
        if facts.st_mode & S_IFMT == S_IFDIR, facts.st_mode & 0o1000 != 0 { return false }
        if facts.st_mode & 0o002 != 0 { return true }
        return facts.st_mode & 0o020 != 0 && groups?.contains(facts.st_gid) ?? true
    }
}
