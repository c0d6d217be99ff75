internal import AsyncHTTPClient
internal import CordonSignIn
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

/// What went wrong, in plain words without addresses, contents or names of libraries' types.
extension AsyncHTTPExchange {
    static func failure(_ error: any Error) -> TransportError {
        switch error {
        case let error as TransportError: error
        case is CancellationError: TransportError(.cancelled, reason: "the request was cancelled")
        case let error as HTTPClientError: failure(ofClient: error)
        case let error as NIOConnectionError: failure(ofConnection: error)
        case let error as IOError: failure(ofSystem: error.errnoCode)
        case let error as NIOSSLError: failure(ofTLS: error)
        case let error as NIOSSLExtraError: failure(ofTLS: error)
        case let error as HTTPParserError: failure(ofParser: error)
        case is NIOHTTPDecoderError: notHTTP
        case ChannelError.connectTimeout: slowConnection
        case is ChannelError, is NIOSSLCloseTimedOutError: closed
        default: TransportError(.unreachable, reason: "the connection failed")
        }
    }

    private static var closed: TransportError {
        TransportError(.unreachable, reason: "the server closed the connection before its answer was whole")
    }

    private static var notHTTP: TransportError {
        TransportError(.unreachable, reason: "what the server answers is not HTTP")
    }

    private static var slowConnection: TransportError {
        TransportError(.unreachable, reason: "no connection could be made in time")
    }

    private static func failure(ofClient error: HTTPClientError) -> TransportError {
        switch error {
        case .deadlineExceeded, .readTimeout, .writeTimeout, .getConnectionFromPoolTimeout:
            TransportError(.timedOut, reason: "no answer in time")
        case .cancelled where Task.isCancelled: TransportError(.cancelled, reason: "the request was cancelled")
        case .invalidURL, .emptyHost, .emptyScheme, .bodyLengthMismatch, .traceRequestWithBody:
            TransportError(.badRequest, reason: "the request cannot be sent as given")
        // The transport itself refuses requests after its end; these are of a client that was
        // replaced when a pin was taken away, or shut down meanwhile.
        case .alreadyShutdown: TransportError(.unreachable, reason: "the connection was given up")
        case .connectTimeout, .tlsHandshakeTimeout: slowConnection
        case .remoteConnectionClosed, .uncleanShutdown: closed
        default:
            TransportError(.unreachable, reason: "the connection failed: \(error.shortDescription.lowercased())")
        }
    }

    /// A host with a name may have several addresses; one that refuses stands for all, else the first.
    private static func failure(ofConnection error: NIOConnectionError) -> TransportError {
        let refusal = POSIXErrorCode.ECONNREFUSED.rawValue
        let errors = error.connectionErrors.map(\.error)
        if let told = errors.first(where: { ($0 as? IOError)?.errnoCode == refusal }) ?? errors.first {
            return failure(told)
        }
        guard error.dnsAError != nil || error.dnsAAAAError != nil else {
            return TransportError(.unreachable, reason: "the connection failed")
        }
        return TransportError(.unreachable, reason: "no address is known for the host's name")
    }

    private static func failure(ofSystem number: CInt) -> TransportError {
        switch POSIXErrorCode(rawValue: number) {
        case .ECONNREFUSED: TransportError(.unreachable, reason: "the connection was refused")
        case .ECONNRESET, .EPIPE, .ECONNABORTED: closed
        case .ETIMEDOUT: slowConnection
        case .ENETUNREACH, .EHOSTUNREACH, .ENETDOWN:
            TransportError(.unreachable, reason: "there is no way to the host from here")
        default: TransportError(.unreachable, reason: "the connection failed with the system's error \(number)")
        }
    }

    private static func failure(ofTLS error: NIOSSLError) -> TransportError {
        let untrusted = TransportError(.untrustedServer, reason: "the server's certificate is not trusted")
        switch error {
        case .unableToValidateCertificate, .noCertificateToValidate: return untrusted
        case .uncleanShutdown: return closed
        case .handshakeFailed(.sslError(let stack)):
            if stack.contains(.eofDuringHandshake) { return closed }
            // The library has no case for it; this is the name of BoringSSL's own error.
            if stack.contains(where: { $0.description.contains("CERTIFICATE_VERIFY_FAILED") }) { return untrusted }
            return TransportError(
                .unreachable, reason: "the server speaks no TLS, or none of the versions that are accepted")
        case .handshakeFailed: return closed
        default: return TransportError(.unreachable, reason: "the connection's TLS failed")
        }
    }

    private static func failure(ofTLS error: NIOSSLExtraError) -> TransportError {
        switch error {
        case .failedToValidateHostname, .serverHostnameImpossibleToMatch:
            TransportError(.untrustedServer, reason: "the server's certificate is for another name")
        default: TransportError(.unreachable, reason: "the connection's TLS failed")
        }
    }

    private static func failure(ofParser error: HTTPParserError) -> TransportError {
        switch error {
        case .invalidEOFState, .closedConnection: closed
        default: notHTTP
        }
    }
}
