internal import CordonIdentity
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

    /// Makes a server; nothing listens yet.
    ///
    /// - Parameter socket: The socket's path. Its folder is made where it is missing: 0755, in development 0700.
    public init(_ broker: Broker, socket: String, limits: BrokerLimits = BrokerLimits(), logger: Logger) {
        self.broker = broker
        self.socket = socket
        self.limits = limits
        self.logger = logger
    }

    /// Listens until the task is cancelled, then removes the socket.
    ///
    /// - Parameter ready: Called once clients can connect.
    /// - Throws: ``BrokerError`` with code `socket` when it cannot be bound or another broker answers there.
    public func run(ready: @Sendable () -> Void) async throws(BrokerError) {
        #if !os(Linux)
            throw BrokerError(
                .unsupported, "this system's callers are identified by code signature, not here", place: socket,
                hint: "Use the sign-on extension on Apple platforms.")
        #else
            try prepareFolder()
            guard BrokerSocket(path: socket, tick: .milliseconds(10)) == nil else {
                throw failure("another broker answers there", "Stop it first, or use another path.")
            }
            let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
            let outcome: Result<Void, BrokerError>
            do {
                let channel = try await bind(on: group)
                chmod(socket, broker.configuration.isDevelopment ? 0o600 : 0o666)
                ready()
                let time = Task { await broker.keepTime() }
                await withTaskCancellationHandler {
                    try? await channel.closeFuture.get()
                } onCancel: {
                    channel.close(promise: nil)
                }
                time.cancel()
                unlink(socket)
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
        private func bind(on group: MultiThreadedEventLoopGroup) async throws -> any Channel {
            let (broker, limits, logger) = (broker, limits, logger)
            let digests = ProgramDigests()
            let loop = group.next()
            let ledger = Locked(ConnectionLedger(limits))
            return try await ServerBootstrap(group: loop)
                .serverChannelOption(.backlog, value: 1_024)
                .childChannelOption(.autoRead, value: false)
                .childChannelOption(.maxMessagesPerRead, value: 4)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let found = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
                            of: NIOBSDSocket.Handle.self
                        ) { WatchedCaller(socket: $0, digests: digests) }
                        guard let caller = found ?? nil else { throw ChannelError.operationUnsupported }
                        let user = caller.caller.user
                        guard ledger.withLock({ $0.admit(user) }) else {
                            logger.notice("too many connections", metadata: ["user": "\(user)"])
                            throw ChannelError.operationUnsupported
                        }
                        channel.closeFuture.whenComplete { _ in ledger.withLock { $0.release(user) } }
                        let desk = BrokerDesk(broker: broker, caller: caller.caller) { caller.isUnchanged }
                        try channel.pipeline.syncOperations.addHandler(
                            BrokerConnectionHandler(
                                desk: desk, limits: limits, now: channel.eventLoop.now.uptimeNanoseconds,
                                logger: logger))
                    }
                }
                .bind(unixDomainSocketPath: socket, cleanupExistingSocketFile: true).get()
        }
    #endif

    /// The folder of the socket, closed to others in development.
    private func prepareFolder() throws(BrokerError) {
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
    }

    private func failure(_ reason: String, _ hint: String) -> BrokerError {
        BrokerError(.socket, reason, place: socket, hint: hint)
    }
}
