#if canImport(Security)
    public import Cordon
    internal import CordonBase
    public import Foundation
    internal import HTTPTypes
    internal import Security

    #if canImport(FoundationNetworking)
        internal import FoundationNetworking
    #endif

    /// The delegate of a session: hands each answer's pieces to the call that waits for it, follows no redirect, and looks at the server's keys.
    final class Exchanges: NSObject, URLSessionDataDelegate {
        private typealias Continuation = AsyncThrowingStream<ExchangePiece, any Error>.Continuation

        private let waiting = Locked<[Int: Continuation]>([:])
        private let untrusted = Locked<Set<Int>>([])
        private let trusts: (@Sendable ([Data], String) -> Bool)?

        init(_ trusts: (@Sendable ([Data], String) -> Bool)?) { self.trusts = trusts }

        func begin(_ task: URLSessionDataTask) -> ExchangePieces {
            let number = task.taskIdentifier
            let (stream, continuation) = AsyncThrowingStream<ExchangePiece, any Error>.makeStream()
            waiting.withLock { $0[number] = continuation }
            continuation.onTermination = { [self] _ in
                task.cancel()
                waiting.withLock { _ = $0.removeValue(forKey: number) }
            }
            task.resume()
            return ExchangePieces(stream: stream) { continuation.finish(throwing: $0) }
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            guard let response = response as? HTTPURLResponse else { return completionHandler(.cancel) }
            var head = HTTPResponse(status: HTTPResponse.Status(code: response.statusCode))
            for (name, value) in response.allHeaderFields {
                guard let name = (name as? String).flatMap({ HTTPField.Name($0) }), let value = value as? String
                else { continue }
                head.headerFields.append(HTTPField(name: name, value: value))
            }
            let found = head
            waiting.withLock { _ = $0[dataTask.taskIdentifier]?.yield(.head(found)) }
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            waiting.withLock { _ = $0[dataTask.taskIdentifier]?.yield(.body(data)) }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            let number = task.taskIdentifier
            let isUntrusted = untrusted.withLock { $0.remove(number) != nil }
            let continuation = waiting.withLock { $0.removeValue(forKey: number) }
            if isUntrusted {
                continuation?.finish(
                    throwing: TransportError(.untrustedServer, reason: "the server's key is not trusted"))
            } else if let error {
                continuation?.finish(throwing: error)
            } else {
                continuation?.finish()
            }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) { completionHandler(nil) }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            // Only a challenge about the server's own keys has a trust.
            guard let trust = challenge.protectionSpace.serverTrust else {
                return completionHandler(.performDefaultHandling, nil)
            }
            guard SecTrustEvaluateWithError(trust, nil),
                trusts?(Bridging.certificates(of: trust) ?? [], challenge.protectionSpace.host) ?? true
            else {
                untrusted.withLock { _ = $0.insert(task.taskIdentifier) }
                return completionHandler(.cancelAuthenticationChallenge, nil)
            }
            completionHandler(.useCredential, URLCredential(trust: trust))
        }
    }

    /// The organisation's pins for a transport that is made before the protection that knows them (SDK-CP-01, SDK-CP-02).
    ///
    /// ```swift
    /// let pins = ServerPins()
    /// let transport = URLSessionTransport(trusts: pins.trusts)
    /// pins.follow(protection.pinning)
    /// ```
    /// Until ``follow(_:account:)`` was called only the system's trust counts.
    public final class ServerPins: Sendable {
        private let check = Locked<(@Sendable ([Data], String) -> Bool)?>(nil)

        /// No pins yet.
        public init() {}

        /// Has the pins of an account decide from now on. Nil is the account of the process, and where it has none, every account: the system
        /// asks where the identity of the work does not follow. Name none for a transport that Cordon itself uses
        /// (``CertificatePinning/checkPins(of:for:account:)``).
        public func follow(_ pinning: CertificatePinning, account: AccountID? = nil) {
            check.withLock {
                $0 = { chain, host in
                    (try? pinning.checkPins(ofCertificates: chain, for: host, account: account)) != nil
                }
            }
        }

        /// What a ``URLSessionTransport`` asks.
        public var trusts: @Sendable (_ chain: [Data], _ host: String) -> Bool {
            { [check] chain, host in check.withLock { $0 }?(chain, host) ?? true }
        }
    }
#endif
