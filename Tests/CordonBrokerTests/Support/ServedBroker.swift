import CordonProtocol
import CordonSignIn
import CordonTesting
import Foundation
import Logging
import Testing

@testable import CordonBroker

/// A broker behind a real socket, for the library's own client and for others.
enum ServedBroker {
    /// A served broker in development mode, whose apps are this very program.
    static func serve(
        _ limits: BrokerLimits = .patient, _ work: (String, BrokerStand) async throws -> Void
    ) async throws {
        let stand = try BrokerStand {
            $0.isDevelopment = true
            $0.apps = []
        }
        try await serve(stand, limits, work)
    }

    /// A served broker with a configuration of its own; other users reach its socket where it is not for development.
    static func serve(
        _ stand: BrokerStand, _ limits: BrokerLimits = .patient, _ work: (String, BrokerStand) async throws -> Void
    ) async throws {
        try FileManager.default.createDirectory(
            at: stand.folder, withIntermediateDirectories: true,
            attributes: [.posixPermissions: stand.configuration.isDevelopment ? 0o700 : 0o755])
        let broker = try await Broker(
            stand.configuration, folder: stand.folder.appending(path: "data"),
            secrets: FileSecretStore(directory: stand.folder.appending(path: "secrets")),
            transport: stand.provider.transport, environment: stand.time.environment,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let socket = stand.folder.appending(path: "run/broker.sock").path
        let server = BrokerServer(
            broker, socket: socket, limits: limits, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        let serving = Task { () -> ProgramError? in
            do throws(ProgramError) {
                try await server.run { isReady.finish() }
                return nil
            } catch {
                isReady.finish()
                return error
            }
        }
        for await _ in ready {}
        do { try await work(socket, stand) } catch {
            serving.cancel()
            _ = await serving.value
            throw error
        }
        serving.cancel()
        #expect(await serving.value == nil)
        #expect(!FileManager.default.fileExists(atPath: socket), "the socket is tidied away")
    }

    static func join(_ socket: String, _ stand: BrokerStand) async throws {
        let device = try SharedDeviceMode.patient(at: socket, clientID: "joiner")
        let info = try await device.joinDevice(browser: stand.provider.browser(signingInAs: .administrator))
        #expect(info.isShared)
    }
}
