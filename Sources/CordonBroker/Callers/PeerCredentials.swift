internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// What the kernel says of the other end of a Unix-domain socket (SI-189, SI-192).
struct PeerCredentials: Sendable, Equatable {
    let process: Int32
    let user: UInt32

    #if os(Linux)
        /// `struct ucred`, which the system's module does not show to Swift: three 32-bit numbers.
        private struct Credentials {
            var process: Int32 = 0
            var user: UInt32 = 0
            var group: UInt32 = 0
        }
        /// `SO_PEERPIDFD`, Linux 6.5.
        private static let peerProcessDescriptor: Int32 = 77
        /// `SO_PEERGROUPS`, Linux 4.13.
        private static let peerGroups: Int32 = 59

        /// The credentials at the time of connecting; nil when the kernel gives none.
        init?(socket: Int32) {
            var found = Credentials()
            var size = socklen_t(MemoryLayout<Credentials>.size)
            guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &found, &size) == 0,
                size == socklen_t(MemoryLayout<Credentials>.size), found.process > 0
            else { return nil }
            process = found.process
            user = found.user
        }

        /// The groups at the time of connecting; nil where the kernel does not say.
        static func groups(socket: Int32) -> Set<UInt32>? {
            var found = Credentials()
            var size = socklen_t(MemoryLayout<Credentials>.size)
            guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &found, &size) == 0 else { return nil }
            // Without room the kernel says how much it needs.
            size = 0
            let isNone = getsockopt(socket, SOL_SOCKET, peerGroups, nil, &size) == 0
            guard isNone || errno == ERANGE else { return nil }
            var others = [UInt32](repeating: 0, count: Int(size) / MemoryLayout<UInt32>.size)
            guard isNone || getsockopt(socket, SOL_SOCKET, peerGroups, &others, &size) == 0 else { return nil }
            return Set(others).union([found.group])
        }

        /// A descriptor of the very process that connected, which no later process can stand in for; nil where the
        /// kernel is too old. The caller closes it.
        static func processDescriptor(socket: Int32) -> Int32? {
            var descriptor: Int32 = -1
            var size = socklen_t(MemoryLayout<Int32>.size)
            guard getsockopt(socket, SOL_SOCKET, peerProcessDescriptor, &descriptor, &size) == 0, descriptor >= 0 else {
                return nil
            }
            return descriptor
        }
    #else
        /// Apple platforms identify callers by audit token and code signature, in the extension; not here.
        init?(socket: Int32) { return nil }
        static func groups(socket: Int32) -> Set<UInt32>? { nil }
        static func processDescriptor(socket: Int32) -> Int32? { nil }
    #endif
}

/// A caller whose program is looked at again at every request: a process that has become another program, or has ended
/// and whose number was given away, is refused (SI-190).
final class WatchedCaller: Sendable {
    let program: ProgramIdentity
    private let credentials: PeerCredentials
    private let path: String
    private let objection: ProgramObjection?
    private let wantsDigest: Bool
    private let processDescriptor: Int32?

    /// Looks at who connected, without reading the program's file; nil when the system does not say, or the process changed
    /// while being looked at.
    init?(_ credentials: PeerCredentials, socket: Int32, programs: ListedPrograms) {
        processDescriptor = PeerCredentials.processDescriptor(socket: socket)
        guard let program = ProgramIdentity.now(credentials.process),
            let path = ProgramIdentity.path(of: credentials.process), program.stillRuns(as: credentials.process)
        else {
            if let processDescriptor { close(processDescriptor) }
            return nil
        }
        self.program = program
        self.credentials = credentials
        self.path = path
        objection = programs.objection(to: program, at: path, of: credentials.user) {
            PeerCredentials.groups(socket: socket)
        }
        wantsDigest = objection == nil && programs.wantsDigest(of: path)
    }

    /// Who connected, with the program's digest where the list asks for it. Reading a large file takes a while, but the file
    /// is always one that an administrator has listed: every other one was objected to before.
    func caller(_ digests: ProgramDigests) async -> BrokerCaller {
        var objection = self.objection
        var digest: String?
        if wantsDigest {
            if program.size > digests.largest { objection = .tooLarge }
            digest = await digests.digest(of: program, process: credentials.process)
        }
        var caller = BrokerCaller(
            user: credentials.user, process: credentials.process, path: path, digest: digest ?? "")
        caller.objection = objection
        return caller
    }

    deinit {
        if let processDescriptor { close(processDescriptor) }
    }

    /// Whether it is still the same program in the same process.
    var isUnchanged: Bool {
        guard let processDescriptor else { return program.stillRuns(as: credentials.process) }
        // The number is the process's own as long as that lives, which is looked at last; readable means that it ended.
        guard program.isFile(of: credentials.process) else { return false }
        var watched = pollfd(fd: processDescriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 0) == 0
    }
}
