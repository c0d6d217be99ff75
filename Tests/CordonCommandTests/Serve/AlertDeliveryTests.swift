import ArgumentParser
import CordonIdentity
import CordonService
import CordonServiceHTTP
import CordonServiceSQLite
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Testing

@testable import CordonCommand

/// SRV-TG-29: the service posts by itself what waited when it was stopped.
@Suite(.timeLimit(.minutes(10))) struct AlertDeliveryTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func open(_ folder: URL, _ arguments: [String] = []) async throws -> RunningService {
        let plan = try ServeOptions.parse(
            ["--development", "--listen", "127.0.0.1:0", "--data-directory", folder.path] + arguments
        ).plan(environment: [:])
        return try await RunningService.open(plan, logger: Self.logger)
    }

    /// Keeps an alert in the store of a service that is stopped, and answers the name of its organisation.
    private func raise(_ folder: URL) async throws -> TenantID {
        let running = try await open(folder)
        await running.close(logger: Self.logger)
        let storage = try SQLiteStorage(file: folder.appending(path: "service.sqlite"))
        try await storage.write(running.tenant) { transaction in
            try transaction.save(
                OperatorAlert(
                    id: "alert-1", kind: .wipeFailed, time: Date() - 60,
                    operationID: "o", registrationID: "r", userID: "u", bundleID: "b", attempts: 3))
        }
        try storage.close()
        return running.tenant
    }

    @Test func `an alert from before a restart is posted by the service that starts`() async throws {
        try await withServeFolder { folder in
            let tenant = try await raise(folder)
            let secret = folder.appending(path: "alert-secret")
            try Data("whsec_\(Data(count: 32).base64EncodedString())".utf8).write(to: secret)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret.path)
            let (bodies, posted) = AsyncStream.makeStream(of: String.self)
            let (ports, bound) = AsyncStream.makeStream(of: Int.self)
            let router = Router()
            router.post("/alerts") { request, _ in
                posted.yield(String(buffer: try await request.body.collect(upTo: 1 << 16)))
                return HTTPResponse.Status.noContent
            }
            let receiver = Application(
                router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
                onServerRunning: { bound.yield($0.localAddress?.port ?? 0) }, logger: Self.logger)
            let receiving = Task { try await receiver.run() }
            var foundPorts = ports.makeAsyncIterator()
            let port = try #require(await foundPorts.next())
            let running = try await open(
                folder,
                ["--alert-webhook", "http://127.0.0.1:\(port)/alerts", "--alert-secret-file", secret.path])
            let upkeep = Task { await running.keepUp(logger: Self.logger) }
            var found = bodies.makeAsyncIterator()
            let body = try #require(await found.next())
            #expect(body.contains("wipe.failed") && body.contains(tenant.rawValue))
            let owner = Administrator(tenant: tenant, id: "owner", name: "Owner", roles: [.owner])
            var delivered: Date?
            while delivered == nil {
                delivered = try await running.service.administration.alerts(as: owner).first?.delivered
                await Task.yield()
            }
            upkeep.cancel()
            receiving.cancel()
            await upkeep.value
            await running.close(logger: Self.logger)
        }
    }

    @Test func `a service whose alerts cannot be signed does not start`() async throws {
        try await withServeFolder { folder in
            let missing = folder.appending(path: "missing").path
            await #expect {
                _ = try await open(
                    folder, ["--alert-webhook", "https://a.example.test/", "--alert-secret-file", missing])
            } throws: {
                ($0 as? CommandFailure)?.status == .badInput
            }
        }
    }
}
