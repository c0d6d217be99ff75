internal import CordonBase
public import CordonProtocol
internal import CordonSignIn
internal import Foundation
public import Logging
internal import NIOCore
internal import NIOPosix

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The broker's socket: a Unix-domain socket that any program of the device may knock at.
public struct BrokerServer: Sendable {
    private let broker: Broker
    private let socket: String
    private let limits: BrokerLimits
    private let logger: Logger
    private let inherited: Int32?

    /// Makes a server; nothing listens yet.
    ///
    /// - Parameters:
    ///   - socket: The socket's path. Its folder is made where it is missing: 0755, in development 0700.
    ///   - inherited: A socket that listens already, as ``InheritedSocket`` finds it (SI-188); then path, folder and
    ///     permissions are up to the program that made it, and it stays when the server ends.
    public init(
        _ broker: Broker, socket: String, inherited: Int32? = nil, limits: BrokerLimits = BrokerLimits(),
        logger: Logger
    ) {
        self.inherited = inherited
        self.broker = broker
        self.socket = socket
        self.limits = limits
        self.logger = logger
    }

    /// Listens until the task is cancelled, then removes the socket.
    ///
    /// - Parameter ready: Called once clients can connect.
    /// - Throws: ``ProgramError`` with code `addressUnavailable` when it cannot be bound or another broker answers there.
    public func run(ready: @Sendable () -> Void) async throws(ProgramError) {
        #if !os(Linux)
            throw ProgramError(
                .unsupported, reason: "this system's callers are identified by code signature, not here", place: socket,
                hint: "Use the sign-on extension on Apple platforms.")
        #else
            let programs = ListedPrograms(broker.configuration)
            warn(of: programs)
            let limits = limits.fittingOpenFiles
            if limits.connections < self.limits.connections {
                logger.warning(
                    "fewer connections than usual, because the broker may not open more files",
                    metadata: ["connections": "\(limits.connections)", "files": "\(self.limits.files)"])
            }
            if inherited == nil {
                try prepareFolder()
                guard BrokerSocket(path: socket, tick: .milliseconds(10)) == nil else {
                    throw failure("another broker answers there", "Stop it first, or use another path.")
                }
            }
            let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
            let outcome: Result<Void, ProgramError>
            do {
                if let inherited, !PeerCredentials.namesSenders(socket: inherited) {
                    logger.warning(
                        "who connected before the broker ran is cut off: the socket unit lacks PassCredentials=yes")
                    _ = PeerCredentials.nameSenders(socket: inherited)
                }
                let channel = try await bind(on: group, programs, limits)
                if inherited == nil { chmod(socket, broker.configuration.isDevelopment ? 0o600 : 0o666) }
                ready()
                let time = Task { await broker.keepTime() }
                await withTaskCancellationHandler {
                    try? await channel.closeFuture.get()
                } onCancel: {
                    channel.close(promise: nil)
                }
                time.cancel()
                await broker.flush()
                if inherited == nil { unlink(socket) }
                outcome = .success(())
            } catch {
                let isTaken = (try? FileManager.default.attributesOfItem(atPath: socket)) != nil
                outcome = .failure(
                    failure(
                        "the socket cannot be bound",
                        isTaken
                            ? "Something else lies there; move it away."
                            : "Check the folder's owner and the path's length."))
            }
            try? await group.shutdownGracefully()
            try outcome.get()
        #endif
    }

    #if os(Linux)
        /// Says what in the list cannot work, and what does not hold.
        private func warn(of programs: ListedPrograms) {
            for (path, objection) in programs.mistakes {
                logger.warning(
                    "an app of the list cannot be served",
                    metadata: ["path": "\(ThrottledLog.plain(path))", "reason": "\(objection.reason)"])
            }
            guard programs.needsPrograms, !programs.isDevelopment else { return }
            // Which file a process runs is shown to its own user, and to processes that may trace it.
            if ProgramIdentity.now(1) == nil {
                logger.warning("programs of other users may be turned away: the broker lacks CAP_SYS_PTRACE")
            }
            logger.notice(
                "apps without a group are told by their program files: a user who can start one can load code into it")
            guard programs.wantsLabels else { return }
            logger.notice(
                "a label keeps out no program that nothing confines: where the system lets it, it takes any label")
        }

        private func bind(
            on group: MultiThreadedEventLoopGroup, _ programs: ListedPrograms, _ limits: BrokerLimits
        ) async throws -> any Channel {
            let (broker, logger) = (broker, logger)
            let digests = broker.digests
            let loop = group.next()
            let ledger = Locked(ConnectionLedger(limits))
            let quiet = Locked(ThrottledLog())
            let bootstrap = ServerBootstrap(group: loop)
                // Who connects waits behind as many while a program connects without pause.
                .serverChannelOption(.backlog, value: 256)
                // Connected clients get a turn after each new connection.
                .serverChannelOption(.maxMessagesPerRead, value: 1)
                .serverChannelInitializer { $0.pipeline.addHandler(AcceptPace()) }
                .childChannelOption(.autoRead, value: false)
                // One read for each time that there is something: what is read has a sender that is known.
                .childChannelOption(.maxMessagesPerRead, value: 1)
                // Credentials come with every message from the first on: also for clients that connect before the broker accepts.
                .serverChannelOption(.socketOption(.init(rawValue: SO_PASSCRED)), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let now = channel.eventLoop.now.uptimeNanoseconds
                        guard let credentials = try Self.onSocket(of: channel, { PeerCredentials(socket: $0) }),
                            credentials.process > 0
                        else { throw ChannelError.operationUnsupported }
                        guard ledger.withLock({ $0.mayKnock(credentials.process, now: now) }) else {
                            Self.note(Self.tooMany, credentials.user, quiet, logger)
                            throw ChannelError.operationUnsupported
                        }
                        let admit = { (caller: ConnectionLedger.Caller) throws -> ProgramBudget in
                            guard let budget = Self.admits(caller, of: credentials.user, ledger, quiet, now, logger)
                            else { throw ChannelError.operationUnsupported }
                            channel.closeFuture.whenComplete { _ in ledger.withLock { $0.release(caller) } }
                            return budget
                        }
                        // A caller that can only be a stranger is held to the limit before anything else is looked up.
                        let isStranger = !programs.mayMean(credentials, ownUser: broker.ownUser)
                        let early = isStranger ? try admit(.stranger(credentials.user)) : nil
                        let found = try Self.onSocket(of: channel) { socket in
                            (
                                WatchedCaller(
                                    credentials, socket: socket, programs: programs, ownUser: broker.ownUser),
                                SenderWatch(socket: socket)
                            )
                        }
                        guard let (caller, senders) = found else { throw ChannelError.operationUnsupported }
                        guard !caller.lacksFiles else {
                            Self.note(Self.noFiles, credentials.user, quiet, logger)
                            throw ChannelError.operationUnsupported
                        }
                        let shared = try early ?? admit(caller.caller(in: programs, ownUser: broker.ownUser))
                        try channel.syncOptions?.setOption(.recvAllocator, value: senders)
                        let session = BrokerSession(broker: broker, identify: { await caller.caller(digests) }) {
                            caller.isUnchanged
                        }
                        try channel.pipeline.syncOperations.addHandler(
                            BrokerConnectionHandler(
                                session: session, limits: limits, shared: shared, loop: channel.eventLoop,
                                logger: logger,
                                isFromCaller: {
                                    if caller.wrote(senders.take()) { return true }
                                    Self.note(
                                        "another process writes over a program's connection", credentials.user, quiet,
                                        logger)
                                    return false
                                }))
                    }
                }
            if let inherited { return try await bootstrap.withBoundSocket(inherited).get() }
            return try await bootstrap.bind(unixDomainSocketPath: socket, cleanupExistingSocketFile: true).get()
        }

        private static func onSocket<Value>(
            of channel: any Channel, _ body: (NIOBSDSocket.Handle) -> Value?
        ) throws -> Value? {
            let found = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
                of: NIOBSDSocket.Handle.self, body)
            return found ?? nil
        }

        private static func admits(
            _ caller: ConnectionLedger.Caller, of user: UInt32, _ ledger: Locked<ConnectionLedger>,
            _ quiet: Locked<ThrottledLog>, _ now: UInt64, _ logger: Logger
        ) -> ProgramBudget? {
            if let budget = ledger.withLock({ $0.admit(caller, now: now) }) { return budget }
            note(tooMany, user, quiet, logger)
            return nil
        }

        private static let tooMany = "too many connections"
        private static let noFiles = "a program is turned away: the broker may not open more files"

        /// Says what a user's programs can cause at will, once a minute.
        private static func note(_ what: String, _ user: UInt32, _ quiet: Locked<ThrottledLog>, _ logger: Logger) {
            guard quiet.withLock({ $0.isDue("\(user) \(what)", now: Date()) }) else { return }
            logger.notice("\(what)", metadata: ["user": "\(user)"])
        }
    #endif

    /// The folder of the socket, closed to others in development.
    private func prepareFolder() throws(ProgramError) {
        let folder = URL(filePath: socket).deletingLastPathComponent().path
        let isDevelopment = broker.configuration.isDevelopment
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: isDevelopment ? 0o700 : 0o755])
        } catch { throw failure("the socket's folder cannot be made", "Choose another path.") }
        let facts = try? FileManager.default.attributesOfItem(atPath: folder)
        let mode = (facts?[.posixPermissions] as? NSNumber)?.intValue ?? 0o777
        guard mode & (isDevelopment ? 0o077 : 0o022) == 0 else {
            throw failure(
                "the socket's folder is open to other users", "Give it mode \(isDevelopment ? "0700" : "0755").")
        }
        // The folder's owner can put another socket in this one's place.
        let owner = (facts?[.ownerAccountID] as? NSNumber)?.uint32Value
        guard owner == geteuid() || owner == 0 else {
            throw failure("the socket's folder belongs to another user", "Give it to root or to the broker's user.")
        }
    }

    private func failure(_ reason: String, _ hint: String) -> ProgramError {
        ProgramError(.addressUnavailable, reason: reason, place: socket, hint: hint)
    }
}
