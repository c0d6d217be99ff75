public import CordonSignIn
public import Foundation
internal import NIOSSL

/// Which servers a transport talks to, beyond what the system's certificate authorities say.
public struct ServerTrust: Sendable {
    /// Certificates of the authorities to trust, DER; nil trusts those of the system.
    public var authorities: [Data]?
    /// Certificates of authorities to trust beside these, DER: the organisation's own.
    public var furtherAuthorities: [Data] = []
    /// Whether a server that showed this public key (subject public key info, DER) may be used for a host: pinning at run
    /// time (SDK-CP-02, SRV-CI-088).
    ///
    /// Asked after the chain and the name were found good, at every new https connection, and again before every request
    /// for the keys of connections that are still open: a pin that is taken away counts at once. Any thread; must answer
    /// without waiting. Only the server's own key can be asked for here, so pin that and its successor, not an authority's:
    /// AsyncHTTPClient creates the TLS handler itself and cannot be given a verification callback; without one, NIOSSL does not keep
    /// the chain.
    public var accepts: (@Sendable (_ publicKey: Data, _ host: String) -> Bool)?

    /// Whether nothing older than TLS 1.3 is spoken (SRV-CI-088). Cordon's service speaks 1.3 alone in any case; set this to false
    /// where an OpenID provider that is reached by the same transport speaks 1.2 and no more (RFC 9325).
    public var requiresTLS13 = true

    /// Trusts the system's authorities, or the ones given, and every key that they vouch for.
    public init(
        authorities: [Data]? = nil, accepts: (@Sendable (_ publicKey: Data, _ host: String) -> Bool)? = nil
    ) {
        self.authorities = authorities
        self.accepts = accepts
    }

    /// Trusts the authorities of a file too: one certificate or several, PEM (RFC 7468), as an organisation's own authority gives
    /// them out.
    ///
    /// ```swift
    /// var trust = ServerTrust()
    /// try trust.add(authoritiesIn: URL(filePath: "/etc/contoso/authority.pem"))
    /// let transport = try AsyncHTTPTransport(trust: trust)
    /// ```
    ///
    /// - Throws: ``TransportError`` with code `badRequest` when the file cannot be read, holds no certificate, or holds something else.
    public mutating func add(authoritiesIn file: URL) throws(TransportError) {
        guard let text = try? Data(contentsOf: file) else {
            throw TransportError(.badRequest, reason: "the file of certificates to trust cannot be read")
        }
        guard let found = try? NIOSSLCertificate.fromPEMBytes(Array(text)).map({ Data(try $0.toDERBytes()) }),
            !found.isEmpty
        else { throw TransportError(.badRequest, reason: "the file of certificates to trust holds none in PEM") }
        furtherAuthorities += found
    }
}
