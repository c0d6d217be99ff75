import ArgumentParser
import CordonBase
import CordonBroker
import CordonHTTPClient
import CordonProtocol
import CordonSignIn
import Foundation
import Logging

/// `cordon broker run`: until it is told to stop.
struct BrokerRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run the broker until SIGTERM.",
        discussion: """
            Prints one line of JSON with its socket when apps can connect.

            Examples:
              cordon broker run --socket /run/cordon/broker.sock --config /etc/cordon/broker.json --profile sso.mobileconfig
              cordon broker run --development --socket ./run/broker.sock --issuer http://127.0.0.1:8080/idp \\
                --service http://127.0.0.1:8080
            """)

    @OptionGroup var options: BrokerOptions

    func run() async throws {
        ProcessProtection.overwriteFreedMemory()
        OpenFileLimit.raise(to: BrokerLimits().files)
        var (configuration, remarks) = try options.plan()
        configuration.hostWarnings = ProcessProtection.apply()
        for remark in remarks { Terminal.talk("\(options.profile ?? "profile"): \(remark)") }
        for warning in configuration.warnings { Terminal.talk(Style.yellow("warning:") + " \(warning)") }
        let logger = Logger(label: "cordon.broker") { TextLogHandler(label: $0) }
        var trust = ServerTrust()
        // What is reached here is the OpenID provider, which is not the broker's to keep up to date.
        trust.requiresTLS13 = false
        let transport: AsyncHTTPTransport
        do {
            if let file = options.authorities { try trust.add(authoritiesIn: URL(filePath: file)) }
            transport = try AsyncHTTPTransport(trust: trust)
        } catch {
            throw CommandFailure(.badInput, (options.authorities == nil ? "" : "--ca: ") + error.reason)
        }
        let folder = URL(filePath: options.dataDirectory, directoryHint: .isDirectory)
        let (stop, stopping) = AsyncStream<Void>.makeStream()
        // Until everything is put away: a second signal changes nothing.
        let signals = StopSignals { _ in stopping.finish() }
        defer { signals.end() }
        let outcome: Result<Void, CommandFailure>
        do {
            let inherited = try InheritedSocket.descriptor(
                ProcessInfo.processInfo.environment, process: ProcessInfo.processInfo.processIdentifier)
            let secrets = try FileSecretStore(directory: folder.appending(path: "secrets"))
            let lock = try Self.hold(folder)
            defer { lock.end() }
            let broker = try await Broker(
                configuration, folder: folder, secrets: secrets, transport: transport, logger: logger)
            let server = BrokerServer(broker, socket: options.socket, inherited: inherited, logger: logger)
            let (isDevelopment, issuer) = (configuration.isDevelopment, configuration.signIn.issuer)
            let report = BrokerReport(
                socket: options.socket, version: Broker.version, development: isDevelopment, issuer: issuer,
                process: ProcessInfo.processInfo.processIdentifier)
            let seat = options.followSeat ? try SeatMonitor.start() : nil
            defer { seat?.stop() }
            let following = Task { if let seat { await broker.follow(seat.events) } }
            defer { following.cancel() }
            let serving = Task {
                try await server.run {
                    if isDevelopment { Self.warn() }
                    try? Terminal.json(report, pretty: false)
                }
            }
            let ending = Task {
                for await _ in stop {}
                serving.cancel()
            }
            defer { ending.cancel() }
            try await serving.value
            outcome = .success(())
        } catch let failure as CommandFailure {
            outcome = .failure(failure)
        } catch let error as ProgramError {
            outcome = .failure(CommandFailure(error))
        } catch let error as SignInError {
            outcome = .failure(CommandFailure(.writeFailed, error.reason, hint: error.hint))
        } catch {
            outcome = .failure(CommandFailure(.writeFailed, "\(error)"))
        }
        await transport.shutdown()
        try outcome.get()
        Terminal.talk("the broker has stopped")
    }

    /// Keeps a second broker out of the folder: each would hand out sessions that the other one knows nothing of.
    private static func hold(_ folder: URL) throws(CommandFailure) -> AdvisoryLock {
        let lock: AdvisoryLock?
        do { lock = try AdvisoryLock.take(folder.appending(path: "broker.lock")) } catch {
            throw CommandFailure(.writeFailed, "\(folder.path) cannot be locked: \(error)")
        }
        guard let lock else {
            throw CommandFailure(
                .refused, "another broker runs on \(folder.path)",
                hint: "Stop it first, or give this one a folder of its own.")
        }
        return lock
    }

    private static func warn() {
        Terminal.talk(
            Style.yellow("For development only:")
                + " the broker runs as the user of its apps, and every program of this user may use it.")
    }
}

/// The one line that `cordon broker run` prints on standard output.
struct BrokerReport: Codable, Sendable, Equatable {
    /// Where apps connect.
    var socket: String
    /// This program's version.
    var version: String
    /// Whether it runs for development.
    var development: Bool
    /// The provider.
    var issuer: String
    /// The process id, for a script that stops it.
    var process: Int32
}
