internal import CordonBase
internal import Foundation

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
    /// The broker may not see which file runs.
    case unseen
    /// The process belongs to a namespace of its user's own, in which neither its number nor its program's file says enough.
    case ownNamespace
    /// The entry's group does not exist here, is the system's own, or has members, any of whom could connect under it.
    case openGroup
    /// A user may take the entry's group in a namespace of users.
    case delegatedGroup
    /// The file is a script: the program that runs is its interpreter.
    case script
    /// The path is one that only Flatpak apps have.
    case flatpak
    /// The file at the path does not run under the entry's group.
    case withoutGroup

    /// The reason, for logs and for the program that is refused.
    var reason: String {
        switch self {
        case .missing: "no file lies at the listed path"
        case .link: "the listed path is, or leads over, a symbolic link; list the file itself"
        case .noFile: "what lies at the listed path is no regular file"
        case .anotherFile: "the program that runs is not the file at the listed path"
        case .changeable: "the program's own user can change the file at the listed path, or replace it"
        case .tooLarge: "the file at the listed path is too large for a digest"
        case .unseen:
            "the broker cannot see which program this is; give the app a group of its own, or the broker CAP_SYS_PTRACE"
        case .ownNamespace: "the program runs in a namespace of processes or users of its own"
        case .openGroup: "the entry's group must exist, be no system administrator's, and have no members"
        case .delegatedGroup:
            "a user can take the entry's group in a namespace: its number lies in a range of /etc/subgid"
        case .script: "the file at the listed path is a script, and what runs is its interpreter; list a program"
        case .flatpak:
            "a Flatpak app cannot be told from other programs of its user; install the app as a program with a group of its own"
        case .withoutGroup: "the file at the listed path is not installed with the entry's group (setgid)"
        }
    }
}

/// The programs of the list, as they lie in the broker's own file system.
///
/// The text of `/proc/PID/exe` proves nothing: in a mount namespace, which any user may make, every file can have every
/// path. What counts is that the file that runs is the very file that the broker finds at the path.
struct ListedPrograms: Sendable {
    private let apps: [AllowedApp]
    private let paths: Set<String>
    private let digested: Set<String>
    /// The groups that entries name, as they are written there.
    private let listedGroups: ListedGroups
    /// The groups that users may take in namespaces, as they are now.
    private let delegated: @Sendable () -> DelegatedGroups
    private let snapRoots: [String]
    /// Whether the device's user may own the programs: the developer of an app does.
    let isDevelopment: Bool
    /// Whether an entry asks for a security label.
    let wantsLabels: Bool

    /// - Parameters:
    ///   - groups: How groups are looked up; the system's where nil.
    ///   - delegated: Which of them users may take in namespaces.
    ///   - snapRoots: Where Snaps are mounted.
    init(
        _ configuration: BrokerConfiguration, groups: ListedGroups? = nil,
        delegated: @escaping @Sendable () -> DelegatedGroups = { DelegatedGroups.now() },
        snapRoots: [String] = SnapPath.usualRoots
    ) {
        self.snapRoots = snapRoots
        self.delegated = delegated
        apps = configuration.apps
        // Who an entry with a group means is told by the group alone.
        paths = Set(apps.filter { $0.group == nil }.map(\.path))
        digested = Set(apps.filter { $0.sha256 != nil && $0.group == nil }.map(\.path))
        listedGroups = groups ?? ListedGroups(apps.compactMap(\.group))
        wantsLabels = apps.contains { $0.label != nil }
        isDevelopment = configuration.isDevelopment
    }

    /// The path by which the list may mean a file: of the revision of a Snap that is in force, the one by way of `current`.
    func listedPath(of seen: String) -> String {
        guard let snap = SnapPath(seen, roots: snapRoots), paths.contains(snap.ofCurrent), snap.isInForce else {
            return seen
        }
        return snap.ofCurrent
    }

    /// Where the file of a listed path lies.
    private func place(of path: String) -> String {
        guard let snap = SnapPath(path, roots: snapRoots), snap.isOfCurrent else { return path }
        return snap.resolved ?? path
    }

    /// Whether an entry asks for the digest of the program at the path.
    func wantsDigest(of path: String) -> Bool { digested.contains(path) }

    /// Whether it matters which file runs at the path: that of a stranger does not.
    func needsFile(at path: String, of user: UInt32, ownUser: UInt32) -> Bool {
        isDevelopment || user == 0 || user == ownUser || paths.contains(path)
    }

    /// Whether a program at the path takes part; in development without a list every program of the broker's user does.
    func admits(_ path: String, of user: UInt32, ownUser: UInt32) -> Bool {
        paths.contains(path) || (isDevelopment && apps.isEmpty && user == ownUser)
    }

    /// Whether a caller may be anything but a stranger, by what costs next to nothing to look at: a program that connects without
    /// end is turned away for as little as possible.
    func mayMean(_ caller: PeerCredentials, ownUser: UInt32) -> Bool {
        if caller.user == 0 || caller.user == ownUser { return true }
        if listedGroups.mayInclude(caller.group) { return true }
        guard !paths.isEmpty, let path = ProgramIdentity.path(of: caller.process) else { return false }
        return paths.contains(listedPath(of: path))
    }

    /// Whether callers are told apart by their program files, which the broker then has to see.
    var needsPrograms: Bool { !paths.isEmpty }

    /// The groups of the list that vouch for a caller: it had the group when it connected, and only the file at the entry's
    /// path gives it to the user who runs it.
    ///
    /// - Parameter others: The caller's further groups; nil where the system does not say, which counts as all of them.
    func groups(of caller: PeerCredentials, in others: () -> Set<UInt32>?) -> Set<String> {
        guard listedGroups.mayInclude(caller.group) else { return [] }
        return Set(
            apps.compactMap { app in
                guard let name = app.group, let group = listedGroups[name], group.number == caller.group,
                    objection(to: group, of: app, of: (caller.user, others())) == nil
                else { return nil }
                return name
            })
    }

    private func objection(
        to group: SystemGroup?, of app: AllowedApp, of caller: (user: UInt32, groups: Set<UInt32>?)?
    ) -> ProgramObjection? {
        guard let group, group.number != 0, group.members.isEmpty,
            // Who logs in with the group has it in every program.
            caller.map({ SystemGroup.primary(of: $0.user) != group.number }) ?? true
        else { return .openGroup }
        guard !delegated().contains(group.number) else { return .delegatedGroup }
        // The program gives its user the group: another user must be the one who may change the file.
        let changers = caller.map { caller in
            (user: caller.user, groups: caller.groups.map { $0.subtracting([group.number]) })
        }
        switch Self.look(at: app.path, as: isDevelopment ? nil : changers) {
        case .file(let listed):
            return listed.st_gid == group.number && listed.st_mode & 0o2010 == 0o2010 ? nil : .withoutGroup
        case .objection(let objection): return objection
        }
    }

    /// What speaks against a program that runs under a listed path; nil for nothing, and for a path that is not listed.
    ///
    /// - Parameter groups: The caller's groups; nil where the system does not say, which counts as all of them.
    func objection(
        to program: ProgramIdentity, at path: String, of caller: PeerCredentials, in groups: () -> Set<UInt32>?
    ) -> ProgramObjection? {
        guard paths.contains(path) else { return nil }
        switch Self.look(at: place(of: path), as: isDevelopment ? nil : (caller.user, groups())) {
        case .file(let listed):
            guard program.isFile(listed) else { return .anotherFile }
            return PeerCredentials.sharesNamespaces(caller.process) ? nil : .ownNamespace
        case .objection(let objection): return objection
        }
    }

    /// Entries whose program can never be served, whichever user runs it, each with the reason. A program that is not installed
    /// is no mistake: one list serves many devices.
    var mistakes: [(path: String, objection: ProgramObjection)] {
        apps.sorted { $0.path < $1.path }.compactMap { app in mistake(in: app).map { (app.path, $0) } }
    }

    private func mistake(in app: AllowedApp) -> ProgramObjection? {
        var facts = stat()
        let place = place(of: app.path)
        guard lstat(place, &facts) == 0 else { return Self.isOfFlatpak(app.path) ? .flatpak : nil }
        if let name = app.group {
            let group = listedGroups[name]
            let found = objection(to: group, of: app, of: nil) ?? objection(to: group, of: app, of: (unusedUser, []))
            if let found { return found }
        } else if case .objection(let found) = Self.look(at: place, as: isDevelopment ? nil : (unusedUser, [])) {
            return found
        }
        return Self.isScript(place) ? .script : nil
    }

    /// Whether a path is one at which only a Flatpak app finds itself. What such an app is called stands in a file of its user's making, and a
    /// group of the app's own (setgid) does not count in it.
    static func isOfFlatpak(_ path: String) -> Bool {
        path.hasPrefix("/app/") || path.contains("/flatpak/app/")
    }

    private static func isScript(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var start: [UInt8] = [0, 0]
        return read(descriptor, &start, start.count) == 2 && start == Array("#!".utf8)
    }

    /// Entries whose file is installed as it should be and has another digest than theirs, as after an upgrade of the app.
    func outdated(by digests: ProgramDigests) async -> [String] {
        var found: [String] = []
        for app in apps.sorted(by: { $0.path < $1.path }) where app.group == nil {
            let place = place(of: app.path)
            guard let wanted = app.sha256, case .file(let facts) = Self.look(at: place, as: nil) else { continue }
            let digest = await digests.digest(of: RememberedFile(facts), at: place)
            if digest != wanted.lowercased() { found.append(app.path) }
        }
        return found
    }

    /// A user id that owns nothing.
    private var unusedUser: UInt32 { .max }

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
        // The folders from the top, then the file: a user who can change one of them decides what lies at the path.
        for part in [""] + path.pathSteps.filter({ !$0.isEmpty }) {
            if !part.isEmpty { place += "/\(part)" }
            guard lstat(place.isEmpty ? "/" : place, &facts) == 0 else { return .objection(.missing) }
            if facts.st_mode & S_IFMT == S_IFLNK { return .objection(.link) }
            if let caller, isChangeable(facts, at: place, by: caller.user, in: caller.groups) {
                return .objection(.changeable)
            }
        }
        guard facts.st_mode & S_IFMT == S_IFREG else { return .objection(.noFile) }
        return .file(facts)
    }

    private static func isChangeable(
        _ facts: stat, at place: String, by user: UInt32, in groups: Set<UInt32>?
    ) -> Bool {
        if facts.st_uid == user { return true }
        // In a sticky folder, such as /tmp, a user cannot replace another user's files.
        if facts.st_mode & S_IFMT == S_IFDIR, facts.st_mode & 0o1000 != 0 { return false }
        if facts.st_mode & 0o002 != 0 { return true }
        return facts.st_mode & 0o020 != 0 && (groups?.contains(facts.st_gid) ?? true || hasAccessList(place))
    }

    /// Whether users and groups are named beside the file's own (`setfacl`): what the mode says of the group is then the most that
    /// any of them may do. They are not looked up; one of them may be the caller.
    private static func hasAccessList(_ place: String) -> Bool {
        guard let facts = try? FileManager.default.attributesOfItem(atPath: place.isEmpty ? "/" : place) else {
            return true
        }
        let named = facts[FileAttributeKey("NSFileExtendedAttributes")] as? [String: Any]
        return named?["system.posix_acl_access"] != nil
    }
}
