internal import AsyncHTTPClient
internal import CordonBase
internal import CordonHTTPGuard
internal import CordonSignIn
internal import Foundation
internal import HTTPTypes
internal import NIOCore
internal import NIOSSL

/// The clients of a transport: one for all, and one for each host whose key is to be checked, because a connection does not
/// say which host it was made for.
final class HTTPClients: Sendable {
    /// A client for one host, and the keys that its connections were accepted for.
    private struct Checked: Sendable {
        let client: HTTPClient
        let keys: Locked<Set<Data>>
    }

    private struct State: Sendable {
        var checked: [String: Checked] = [:]
        var isClosed = false
    }

    private let trust: ServerTrust
    private let tls: TLSConfiguration
    private let common: HTTPClient
    private let state = Locked(State())

    /// Trusts what the system trusts.
    init() {
        trust = ServerTrust()
        tls = Self.tls(nil, and: [], onlyNewest: trust.requiresTLS13)
        common = HTTPClient(eventLoopGroupProvider: .singleton, configuration: Self.configuration(tls))
    }

    init(_ trust: ServerTrust) throws(TransportError) {
        self.trust = trust
        tls = Self.tls(
            try trust.authorities.map { bytes throws(TransportError) in try Self.certificates(bytes) },
            and: try Self.certificates(trust.furtherAuthorities), onlyNewest: trust.requiresTLS13)
        common = HTTPClient(eventLoopGroupProvider: .singleton, configuration: Self.configuration(tls))
    }

    /// The client for a request.
    ///
    /// - Throws: ``TransportError`` with code `badRequest` after ``shutdown()`` has begun, and where it cannot be told whose key is to be checked.
    func client(for request: HTTPRequest) throws(TransportError) -> HTTPClient {
        guard let accepts = trust.accepts, request.scheme?.lowercased() == "https" else {
            if state.withLock({ $0.isClosed }) { throw Self.closed }
            return common
        }
        let named = request.authority.flatMap { URL(string: "https://\($0)")?.host()?.lowercased() }
        guard let host = named, !host.isEmpty else {
            throw TransportError(.badRequest, reason: "the request's address has no usable host")
        }
        let known = state.withLock { $0.checked[host] }
        let isOutdated = known?.keys.withLock { $0 }.contains { !accepts($0, host) } ?? false
        if isOutdated, let known {
            // What is under way there ends too: it goes to a server that is not to be trusted any more.
            state.withLock { if $0.checked[host]?.client === known.client { $0.checked[host] = nil } }
            Task { try? await known.client.shutdown() }
        }
        let client = state.withLock { [tls] state -> HTTPClient? in
            if state.isClosed { return nil }
            if let known = state.checked[host] { return known.client }
            let made = Self.checked(host, accepts, tls)
            state.checked[host] = made
            return made.client
        }
        guard let client else { throw Self.closed }
        return client
    }

    private static var closed: TransportError { TransportError(.badRequest, reason: "the transport was shut down") }

    /// Closes everything. Safe to call twice.
    func shutdown() async {
        let all = state.withLock { state in
            state.isClosed = true
            defer { state.checked = [:] }
            return state.checked.values.map(\.client)
        }
        for client in all + [common] { try? await client.shutdown() }
    }

    private static func checked(
        _ host: String, _ accepts: @escaping @Sendable (Data, String) -> Bool, _ tls: TLSConfiguration
    ) -> Checked {
        var configuration = configuration(tls)
        let keys = Locked<Set<Data>>([])
        configuration.inspectConnections { channel in
            channel.nioSSL_peerCertificate().flatMapThrowing { certificate in
                guard let key = try? certificate.map({ Data(try $0.extractPublicKey().toSPKIBytes()) }),
                    accepts(key, host)
                else {
                    // After the pool has been told, which must hear of the failure first.
                    channel.eventLoop.execute { channel.close(promise: nil) }
                    throw TransportError(.untrustedServer, reason: "the server's key is not a pinned one")
                }
                keys.withLock { _ = $0.insert(key) }
            }
        }
        return Checked(
            client: HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration), keys: keys)
    }

    private static func configuration(_ tls: TLSConfiguration) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration.guarded
        configuration.tlsConfiguration = tls
        configuration.timeout.connect = .seconds(10)
        return configuration
    }

    /// TLS 1.2 or later (RFC 9325), or 1.3 alone, with the authorities that are trusted.
    private static func tls(
        _ authorities: [NIOSSLCertificate]?, and further: [NIOSSLCertificate], onlyNewest: Bool
    ) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = onlyNewest ? .tlsv13 : .tlsv12
        if let authorities { tls.trustRoots = .certificates(authorities) }
        if !further.isEmpty { tls.additionalTrustRoots = [.certificates(further)] }
        return tls
    }

    private static func certificates(_ authorities: [Data]) throws(TransportError) -> [NIOSSLCertificate] {
        var certificates: [NIOSSLCertificate] = []
        for bytes in authorities {
            guard let certificate = try? NIOSSLCertificate(bytes: Array(bytes), format: .der) else {
                throw TransportError(.badRequest, reason: "a certificate to trust cannot be read")
            }
            certificates.append(certificate)
        }
        return certificates
    }
}
