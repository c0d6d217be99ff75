internal import CordonBase
public import CordonProtocol
public import CordonService
public import Foundation
internal import Hummingbird
internal import HummingbirdCore
internal import HummingbirdTLS
public import Logging
internal import NIOCore
internal import ServiceLifecycle
internal import UnixSignals

/// The management service on a socket: check-in, administration, health, and in development the embedded provider.
///
/// One value serves once. All members may be used from any task.
public final class ServiceServer: Sendable {
    /// The version of this software.
    public static let version = CordonRelease.version

    /// Where a server that answers is found.
    public struct Address: Sendable, Equatable {
        /// The address that was bound, such as `http://127.0.0.1:8080`.
        public let bound: URL
        /// The address that clients use.
        public let base: URL
        /// The issuer of the tokens that are accepted; of several, the first.
        public let issuer: URL
    }

    /// The most bytes of one header, and of all together.
    private static let largestHeaders = 32 << 10

    private let configuration: ServiceServerConfiguration
    private let service: ManagementService
    private let documents: any IssuerDocuments
    private let development: EmbeddedProvider?
    private let extensions: [ServerExtension]
    private let logger: Logger
    private let now: @Sendable () -> Date
    private let metrics: ServiceMetrics
    private let group = Locked<ServiceGroup?>(nil)
    /// What verifies access tokens, once the server answers.
    private let tokens = Locked<AccessTokenVerifier?>(nil)
    /// The certificate, once the server answers by TLS.
    private let certificate = Locked<ServerCertificate?>(nil)

    /// Makes a server that accepts the tokens of outside providers.
    ///
    /// - Parameters:
    ///   - service: What does the work.
    ///   - documents: Where the providers' keys come from.
    ///   - extensions: Routes beside the service's own, such as those in the shape of Graph.
    ///   - now: The clock.
    /// - Throws: ``ProgramError`` with code `configurationInvalid`.
    public init(
        _ configuration: ServiceServerConfiguration, service: ManagementService,
        documents: any IssuerDocuments = NetworkIssuerDocuments(), extensions: [ServerExtension] = [],
        logger: Logger,
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws(ProgramError) {
        try configuration.validate()
        guard !configuration.issuers.isEmpty, configuration.issuers.allSatisfy({ URL(string: $0) != nil }) else {
            throw ProgramError(
                .configurationInvalid, reason: "no OpenID provider is configured", place: "issuer",
                hint: "name the issuer of a provider, or use --development for the embedded one")
        }
        self.configuration = configuration
        self.service = service
        self.documents = documents
        self.development = nil
        self.extensions = extensions
        self.logger = logger
        self.now = now
        self.metrics = ServiceMetrics(started: now())
    }

    /// Makes a server with a provider in its own process, for development and demos on loopback alone.
    ///
    /// - Parameter provider: Signs people in, with this configuration's audiences.
    /// - Throws: ``ProgramError`` with code `notLoopback` or `configurationInvalid`.
    package init(
        development configuration: ServiceServerConfiguration, service: ManagementService,
        provider: EmbeddedProvider, extensions: [ServerExtension] = [], logger: Logger,
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws(ProgramError) {
        guard Loopback.includes(configuration.host) else {
            throw ProgramError(
                .notLoopback,
                reason: "the embedded identity provider is for development and must not be reachable "
                    + "from other machines", place: configuration.host,
                hint: "listen on 127.0.0.1, or configure an OpenID provider of your own")
        }
        let publicHost = configuration.publicURL?.host(percentEncoded: false)
        guard !configuration.isBehindProxy, publicHost.map(Loopback.includes) ?? true else {
            throw ProgramError(
                .notLoopback,
                reason: "the embedded identity provider is for development and must not be reached through a proxy",
                place: publicHost ?? "behind-proxy",
                hint: "leave out the public URL and the proxy, or configure an OpenID provider of your own")
        }
        try configuration.validate()
        self.configuration = configuration
        self.service = service
        self.documents = EmbeddedIssuer(provider: provider)
        self.development = provider
        self.extensions = extensions
        self.logger = logger
        self.now = now
        self.metrics = ServiceMetrics(started: now())
    }

    /// Serves until ``shutDown()``, SIGTERM or SIGINT, or until the task is cancelled.
    ///
    /// Draining ends event streams at once and lets other requests finish, for as long as the configuration says.
    ///
    /// - Parameters:
    ///   - handlesSignals: Whether SIGTERM and SIGINT drain; false where the server shares a process.
    ///   - ready: Called once, when the server answers.
    /// - Throws: ``ProgramError``: `addressInUse`, `addressUnavailable` or `failed`.
    public func run(
        handlesSignals: Bool = false, ready: @escaping @Sendable (Address) async -> Void
    ) async throws(ProgramError) {
        let responder = DeferredResponder()
        let (waiting, polls) = AsyncStream.makeStream(of: [SecurityEventPoll].self)
        let application = Application(
            responder: responder, server: try channel(),
            configuration: .init(
                address: .hostname(configuration.host, port: configuration.port), serverName: "Cordon"),
            onServerRunning: { [self] channel in
                await AcceptRest.add(to: channel)
                let address = address(boundTo: channel.localAddress?.port ?? configuration.port)
                await development?.start(address.issuer)
                var routes = router(at: address)
                let verifier = routes.tokens
                tokens.withLock { $0 = verifier }
                let receiver = routes.receiver(verifying: verifier)
                routes.signals = receiver
                responder.install(routes.responder(verifying: verifier))
                polls.yield(routes.polls(for: receiver))
                await ready(address)
            },
            logger: logger)
        var grouping = ServiceGroupConfiguration(
            // Ended last to first, each once the one behind it has ended: what is fetched at the moment does not hold up draining.
            services: [SecurityEventPolling(polls: waiting), application] + metricsServices,
            gracefulShutdownSignals: handlesSignals ? [.sigterm, .sigint] : [],
            logger: logger)
        grouping.maximumGracefulShutdownDuration = configuration.drainTimeout
        let group = ServiceGroup(configuration: grouping)
        self.group.withLock { $0 = group }
        do {
            try await group.run()
        } catch is CancellationError {
            return
        } catch {
            throw failure(error)
        }
    }

    /// Has the metrics show what the program measured, and metrics and `/readyz` what an operator has to look at.
    package func note(_ gauges: [ServiceGauge], _ conditions: [ServiceCondition]) { metrics.note(gauges, conditions) }

    /// Fetches the keys of providers where that is due, so that one that cannot be reached is known before a client needs it; how
    /// they stand. Nothing before the server answers.
    package func lookAtProviders() async -> [ProviderKeyState] {
        await tokens.withLock { $0 }?.lookAtProviders() ?? []
    }

    /// When the certificate that new connections are answered with ends; nil without one, and before the server answers.
    package var certificateEnds: Date? { certificate.withLock { $0 }?.ends }

    /// Ends event streams, lets requests under way finish, and makes ``run(handlesSignals:ready:)`` return.
    public func shutDown() async {
        await group.withLock { $0 }?.triggerGracefulShutdown()
    }

    /// What the store, keys, logs and questions to providers need besides the connections of clients.
    private static let otherFiles = 128

    /// How connections are read: slow and large requests end, and with a certificate all is TLS.
    private func channel() throws(ProgramError) -> HTTPServerBuilder {
        let open = OpenConnections(
            atMost: min(configuration.maximumConnections, OpenFileLimit.connections(each: 1, beside: Self.otherFiles)),
            unknownOfAddress: configuration.unknownConnectionsOfAddress, metrics: metrics)
        if open.most < configuration.maximumConnections {
            logger.warning(
                "fewer connections than configured, because the process may not open more files",
                metadata: ["connections": "\(open.most)"])
        }
        let looksAtAddresses = !configuration.isBehindProxy
        let bodyTime = TimeAmount.seconds(configuration.bodyTimeout.components.seconds)
        let plain = HTTPServerBuilder.http1(
            configuration: .init(
                additionalChannelHandlers: [
                    ConnectionBounds(open, bodyTime: bodyTime, looksAtAddresses: looksAtAddresses)
                ],
                idleTimeout: .seconds(configuration.idleTimeout.components.seconds),
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: Self.largestHeaders, maxHeaderListSize: Self.largestHeaders,
                    maxHeaderFieldCount: 100)))
        guard let files = configuration.certificate else { return plain }
        let certificate = try ServerCertificate(files, logger: logger, now: now)
        self.certificate.withLock { $0 = certificate }
        do {
            return try .tls(plain, tlsConfiguration: certificate.configuration)
        } catch {
            throw ProgramError(
                .configurationInvalid, reason: "the certificate cannot be used", place: files.chain.path,
                hint: "name a certificate chain and its key in PEM")
        }
    }

    private var metricsServices: [any Service] {
        guard let address = configuration.metrics else { return [] }
        if !Loopback.includes(address.host) {
            logger.warning("the metrics answer on an address that others may reach; they are for this machine alone")
        }
        let router = Router(context: BasicRequestContext.self)
        MetricsRoutes(metrics: metrics).add(to: router)
        HealthRoutes(
            devices: service.devices, tenant: configuration.tenant, metrics: metrics, isInside: true
        ).add(to: router)
        // Counted apart: a client that fills these places takes none from apps.
        let open = OpenConnections(
            atMost: Self.mostMetricsConnections, unknownOfAddress: Self.mostMetricsConnections,
            metrics: ServiceMetrics(started: now()))
        return [
            Application(
                router: router,
                server: .http1(
                    configuration: .init(
                        additionalChannelHandlers: [ConnectionBounds(open, bodyTime: .seconds(5))],
                        idleTimeout: .seconds(configuration.idleTimeout.components.seconds))),
                configuration: .init(address: .hostname(address.host, port: address.port), serverName: "Cordon"),
                onServerRunning: { await AcceptRest.add(to: $0) }, logger: logger)
        ]
    }

    /// The most connections to the metrics at once.
    private static let mostMetricsConnections = 64

    private func address(boundTo port: Int) -> Address {
        let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
        let bound =
            URL(string: "\(configuration.certificate == nil ? "http" : "https")://\(host):\(port)")
            ?? URL(filePath: "/")
        let base = configuration.publicURL ?? bound
        let outside = configuration.issuers.first.flatMap { URL(string: $0) }
        return Address(
            bound: bound, base: base,
            issuer: development.map { base.appending(path: $0.path) } ?? outside ?? base)
    }

    private func router(at address: Address) -> ServiceRouter {
        var base = address.base.absoluteString
        while base.hasSuffix("/") { base.removeLast() }
        return ServiceRouter(
            configuration: configuration, base: base, issuer: address.issuer, service: service,
            documents: documents, provider: development, extensions: extensions, logger: logger, now: now,
            metrics: metrics)
    }

    private func failure(_ error: any Error) -> ProgramError {
        let place = "\(configuration.host):\(configuration.port)"
        switch (error as? IOError)?.errnoCode {
        case EADDRINUSE:
            return ProgramError(
                .addressInUse, reason: "another program listens on this address", place: place,
                hint: "stop it, or choose another port with --listen")
        case .some:
            return ProgramError(
                .addressUnavailable, reason: "the address cannot be bound", place: place,
                hint: "use an address of this machine and a port that may be bound")
        case nil:
            return ProgramError(
                .failed, reason: "the server ended: \(type(of: error))", place: place, hint: "see the log")
        }
    }
}
