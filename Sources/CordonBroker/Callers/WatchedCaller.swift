internal import CordonBase
internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A caller whose process and program are looked at again at every request: a process that has become another program, or has
/// ended and whose number was given away, is refused (SI-190).
final class WatchedCaller: Sendable {
    /// What runs, by its file; nil where the broker may not see it.
    let program: ProgramIdentity?
    /// Whether the broker had no descriptor left to tell the caller by: what it found then says nothing of the caller.
    let lacksFiles: Bool
    private let credentials: PeerCredentials
    private let path: String
    private let objection: ProgramObjection?
    /// What the kernel fixed when the caller connected, of what the list asks for.
    private let groups: Set<String>
    private let label: String?
    private let wantsDigest: Bool
    private let processDescriptor: Int32?
    private let started: UInt64?

    /// Looks at the process that connected, without reading its program's file. A file that no entry names is not looked at either: it may lie in
    /// a file system of its user's own, which answers when it likes.
    init(_ credentials: PeerCredentials, socket: Int32, programs: ListedPrograms, ownUser: UInt32) {
        self.credentials = credentials
        processDescriptor = PeerCredentials.processDescriptor(socket: socket)
        started = ProgramIdentity.startTime(of: credentials.process)
        label = programs.wantsLabels ? PeerCredentials.label(socket: socket) : nil
        let others = { PeerCredentials.groups(socket: socket) }
        groups = programs.groups(of: credentials, in: others)
        let seen = ProgramIdentity.path(of: credentials.process)
        let listed = seen.map(programs.listedPath)
        if let listed, !programs.needsFile(at: listed, of: credentials.user, ownUser: ownUser) {
            program = nil
            path = listed
            objection = nil
        } else if let seen, let listed, let program = ProgramIdentity.now(credentials.process),
            ProgramIdentity.path(of: credentials.process) == seen, program.stillRuns(as: credentials.process)
        {
            self.program = program
            path = listed
            objection = programs.objection(to: program, at: listed, of: credentials, in: others)
        } else {
            program = nil
            path = ""
            objection = .unseen
        }
        wantsDigest = objection == nil && programs.wantsDigest(of: path)
        lacksFiles = (processDescriptor == nil || started == nil) && OpenFileLimit.isReached
    }

    /// What the list makes of the caller, before it says a word.
    func caller(in programs: ListedPrograms, ownUser: UInt32) -> ConnectionLedger.Caller {
        if let group = groups.sorted().first {
            return .listed(.init(user: credentials.user, program: "group \(group)"))
        }
        var file: ConnectionLedger.Caller?
        if let program, objection == nil, programs.admits(path, of: credentials.user, ownUser: ownUser) {
            file = .listed(.init(user: credentials.user, program: "file \(program.file.device) \(program.file.inode)"))
        }
        // In development the broker's own user starts the apps.
        if programs.isDevelopment, let file { return file }
        if credentials.user == 0 || credentials.user == ownUser { return .administrator }
        return file ?? .stranger(credentials.user)
    }

    /// Whether the process that wrote a message is the one that connected.
    func wrote(_ sender: Int32?) -> Bool { sender == credentials.process }

    /// The caller, with its program's digest where the list asks for one. Reading a large file takes a while, but the file
    /// is always one that an administrator has listed: every other one was objected to before.
    func caller(_ digests: ProgramDigests) async -> BrokerCaller {
        var objection = self.objection
        var digest: String?
        if wantsDigest, let program {
            if program.file.size > digests.largest { objection = .tooLarge }
            digest = await digests.digest(
                of: program.file, at: ProgramIdentity.link(to: credentials.process))
        }
        var caller = BrokerCaller(
            user: credentials.user, process: credentials.process, path: path, digest: digest ?? "")
        caller.objection = objection
        caller.groups = groups
        caller.label = label
        return caller
    }

    deinit {
        if let processDescriptor { close(processDescriptor) }
    }

    /// Whether it is still the same process, and the same program where that is what the caller was told by.
    var isUnchanged: Bool {
        if groups.isEmpty, let program, !program.isFile(of: credentials.process) { return false }
        guard let processDescriptor else {
            return started != nil && ProgramIdentity.startTime(of: credentials.process) == started
        }
        // The number is the process's own as long as that lives, which is looked at last; readable means that it ended.
        var watched = pollfd(fd: processDescriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 0) == 0
    }
}
