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
    ///     permissions are the affair of whoever made it, and it stays when the server ends.
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
            if !broker.configuration.isDevelopment, !Self.seesPrograms(of: 1) {
                logger.warning("programs of other users may be turned away: the broker lacks CAP_SYS_PTRACE")
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
                let channel = try await bind(on: group)
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
                outcome = .failure(
                    failure("the socket cannot be bound", "Check the folder's owner and the path's length."))
            }
            try? await group.shutdownGracefully()
            try outcome.get()
        #endif
    }

    #if os(Linux)
        /// Whether the programs of other users can be told apart: which file a process runs is shown to its own user, and to
        /// whoever may trace it.
        static func seesPrograms(of process: Int32) -> Bool { ProgramIdentity.now(process) != nil }

        private func bind(on group: MultiThreadedEventLoopGroup) async throws -> any Channel {
            let (broker, limits, logger) = (broker, limits, logger)
            let digests = ProgramDigests()
            let loop = group.next()
            let ledger = Locked(ConnectionLedger(limits))
            let quiet = Locked(ThrottledLog())
            let programs = ListedPrograms(broker.configuration)
            for (path, objection) in programs.mistakes {
                logger.warning(
                    "an app of the list cannot be served",
                    metadata: ["path": "\(ThrottledLog.plain(path))", "reason": "\(objection.reason)"])
            }
            let bootstrap = ServerBootstrap(group: loop)
                .serverChannelOption(.backlog, value: 1_024)
                .childChannelOption(.autoRead, value: false)
                .childChannelOption(.maxMessagesPerRead, value: 4)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let now = channel.eventLoop.now.uptimeNanoseconds
                        // Who is over the limit is turned away before anything is looked up for them.
                        guard
                            let credentials = try Self.onSocket(of: channel, { PeerCredentials(socket: $0) }),
                            Self.admits(credentials.user, ledger, quiet, now, logger)
                        else { throw ChannelError.operationUnsupported }
                        channel.closeFuture.whenComplete { _ in ledger.withLock { $0.release(credentials.user) } }
                        let found = try Self.onSocket(of: channel) {
                            WatchedCaller(credentials, socket: $0, programs: programs)
                        }
                        guard let caller = found else { throw ChannelError.operationUnsupported }
                        let program = ConnectionLedger.ProgramKey(
                            user: credentials.user, device: caller.program.device, inode: caller.program.inode)
                        let shared = ledger.withLock { $0.enter(program, now: now) }
                        channel.closeFuture.whenComplete { _ in ledger.withLock { $0.leave(program) } }
                        let session = BrokerSession(broker: broker, identify: { await caller.caller(digests) }) {
                            caller.isUnchanged
                        }
                        try channel.pipeline.syncOperations.addHandler(
                            BrokerConnectionHandler(
                                session: session, limits: limits, shared: shared, now: now, logger: logger))
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
            _ user: UInt32, _ ledger: Locked<ConnectionLedger>, _ quiet: Locked<ThrottledLog>, _ now: UInt64,
            _ logger: Logger
        ) -> Bool {
            if ledger.withLock({ $0.admit(user, now: now) }) { return true }
            if quiet.withLock({ $0.isDue("\(user)", now: Date()) }) {
                logger.notice("too many connections", metadata: ["user": "\(user)"])
            }
            return false
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
        // Whoever owns the folder can put another socket in this one's place.
        let owner = (facts?[.ownerAccountID] as? NSNumber)?.uint32Value
        guard owner == geteuid() || owner == 0 else {
            throw failure("the socket's folder belongs to another user", "Give it to root or to the broker's user.")
        }
    }

    private func failure(_ reason: String, _ hint: String) -> ProgramError {
        ProgramError(.addressUnavailable, reason: reason, place: socket, hint: hint)
    }
}
