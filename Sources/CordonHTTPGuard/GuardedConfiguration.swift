package import AsyncHTTPClient
package import NIOCore
internal import NIOSSL

extension HTTPClient.Configuration {
    /// What every client of this package begins with: no redirect is followed, no answer ends the process, no TLS older than 1.2 is
    /// spoken, and a connection that cannot be made fails at once.
    ///
    /// HTTP/1.1 alone is spoken: one place to look at answers and certificates, and connections that can be asked to end with an answer.
    package static var guarded: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow, decompression: .disabled)
        configuration.httpVersion = .http1Only
        // AsyncHTTPClient's own begins with TLS 1.0 (RFC 9325 §3.1.1).
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        configuration.tlsConfiguration = tls
        // A refused connection is an answer: the caller decides whether to try again. AsyncHTTPClient tries for as long as callers wait,
        // and says why only afterwards.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.http1_1ConnectionDebugInitializer = { channel in AnswerGuard.add(to: channel) }
        return configuration
    }

    /// Has each new connection looked at before a request goes over it; a failure keeps the connection from being used.
    package mutating func inspectConnections(
        _ inspect: @escaping @Sendable (_ channel: any Channel) -> EventLoopFuture<Void>
    ) {
        http1_1ConnectionDebugInitializer = { channel in
            AnswerGuard.add(to: channel).flatMap { inspect(channel) }
        }
    }
}
