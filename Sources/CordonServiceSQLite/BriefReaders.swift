internal import CordonBase
internal import CordonService
internal import GRDB

/// Connections for brief reads, each run on its caller's thread: as many as there are such reads at once, so that none waits for
/// another. As many as there are threads, that is, since each keeps its thread.
///
/// The library's pool would hand out each connection by a queue, a semaphore and a group, and ask the file for the version of its
/// schema before every read: together a fifth of what a check-in's read costs. The schema never changes while a store is open.
final class BriefReaders: Sendable {
    private struct Connections: Sendable {
        var all: [DatabaseQueue] = []
        var free: [DatabaseQueue] = []
        var isClosed = false
    }

    private let path: String
    private let configuration: Configuration
    private let connections = Locked(Connections())

    /// - Parameter configuration: That of the store; readers cannot write, whatever it says.
    init(path: String, configuration: Configuration) {
        var configuration = configuration
        configuration.readonly = true
        configuration.label = "cordon.storage.brief"
        self.path = path
        self.configuration = configuration
    }

    /// Runs a body at once, on a connection that nothing else uses meanwhile.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        let connection = try connections.withLock { $0.free.popLast() } ?? open()
        defer { connections.withLock { $0.free.append(connection) } }
        return try connection.unsafeRead { database in
            // Looked at in the connection's turn: closing waits for that, and says so before.
            guard !connections.withLock(\.isClosed) else { throw Self.closed }
            return try body(database)
        }
    }

    /// Closes every connection once its present read has ended; later reads throw.
    func close() throws {
        let all = connections.withLock { connections in
            connections.isClosed = true
            return connections.all
        }
        for connection in all { try connection.close() }
    }

    private func open() throws -> DatabaseQueue {
        guard !connections.withLock(\.isClosed) else { throw Self.closed }
        let connection = try DatabaseQueue(path: path, configuration: configuration)
        let isClosed = connections.withLock { connections in
            if !connections.isClosed { connections.all.append(connection) }
            return connections.isClosed
        }
        guard !isClosed else {
            try connection.close()
            throw Self.closed
        }
        return connection
    }

    /// What a closed store throws.
    static let closed = ServiceError(.storageUnavailable, "the store is closed")
}
