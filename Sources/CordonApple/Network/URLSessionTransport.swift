#if canImport(Security)
    public import Cordon
    internal import CordonBase
    public import Foundation
    public import HTTPTypes
    internal import Security

    #if canImport(FoundationNetworking)
        internal import FoundationNetworking
    #endif

    /// The ``HTTPTransport`` of Apple platforms: a session of its own without cookies, cache or redirects, with a deadline for whole exchanges.
    public final class URLSessionTransport: HTTPTransport {
        private let session: URLSession
        private let exchanges: Exchanges

        /// Makes a transport.
        ///
        /// - Parameters:
        ///   - requiresTLS13: Whether nothing older than TLS 1.3 is spoken (SRV-CI-088); false where an OpenID provider or an inspecting proxy
        ///     speaks 1.2 and no more.
        ///   - trusts: Whether a chain of certificates that the system trusts may be used for a host, DER, the server's first; see
        ///     ``ServerPins``. Nil trusts what the system trusts.
        public init(
            requiresTLS13: Bool = true, trusts: (@Sendable (_ chain: [Data], _ host: String) -> Bool)? = nil
        ) {
            let configuration = URLSessionConfiguration.ephemeral
            if requiresTLS13 { configuration.tlsMinimumSupportedProtocolVersion = .TLSv13 }
            configuration.httpShouldSetCookies = false
            configuration.httpCookieStorage = nil
            configuration.urlCache = nil
            exchanges = Exchanges(trusts)
            session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
        }

        deinit { session.finishTasksAndInvalidate() }

        /// Sends a request and collects the answer.
        public func send(
            _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
        ) async throws(TransportError) -> HTTPAnswer {
            let pieces = try begin(request, body: body, timeout: timeout)
            let deadline = pieces.expire(after: timeout)
            defer { deadline.cancel() }
            var head: HTTPResponse?
            var collected = Data()
            do {
                for try await piece in pieces.stream {
                    switch piece {
                    case .head(let found): head = found
                    case .body(let data):
                        guard data.count <= limit - collected.count else {
                            throw TransportError(.answerTooLarge, reason: "the answer is larger than \(limit) bytes")
                        }
                        collected.append(data)
                    }
                }
            } catch { throw Self.failure(error) }
            if Task.isCancelled { throw TransportError(.cancelled, reason: "the request was cancelled") }
            guard let head else { throw TransportError(.unreachable, reason: "the answer is not HTTP") }
            return HTTPAnswer(head: head, body: collected)
        }

        /// Sends a request and hands over the answer's body as it arrives.
        public func stream(
            _ request: HTTPRequest, timeout: Duration
        ) async throws(TransportError) -> HTTPAnswerStream {
            let pieces = try begin(request, body: nil, timeout: nil)
            let deadline = pieces.expire(after: timeout)
            var arriving = pieces.stream.makeAsyncIterator()
            let first: ExchangePiece?
            do { first = try await arriving.next() } catch {
                deadline.cancel()
                throw Self.failure(error)
            }
            deadline.cancel()
            guard case .head(let head)? = first else {
                throw Task.isCancelled
                    ? TransportError(.cancelled, reason: "the request was cancelled")
                    : TransportError(.unreachable, reason: "the answer is not HTTP")
            }
            let (body, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
            let reading = Task {
                do {
                    for try await piece in pieces.stream {
                        if case .body(let data) = piece { continuation.yield(data) }
                    }
                    continuation.finish()
                } catch { continuation.finish(throwing: Self.failure(error)) }
            }
            continuation.onTermination = { _ in reading.cancel() }
            return HTTPAnswerStream(head: head, body: body)
        }

        private func begin(
            _ request: HTTPRequest, body: Data?, timeout: Duration?
        ) throws(TransportError) -> ExchangePieces {
            guard let scheme = request.scheme, let authority = request.authority,
                let url = URL(string: "\(scheme)://\(authority)\(request.path ?? "/")")
            else { throw TransportError(.badRequest, reason: "the request has no absolute address") }
            var outgoing = URLRequest(url: url)
            // The session's own limit is one for silence: the deadline of the whole is kept beside it, and a stream may be silent for long.
            outgoing.timeoutInterval = timeout.map { max(1, $0 / .seconds(1)) } ?? 86_400
            outgoing.httpMethod = request.method.rawValue
            outgoing.httpBody = body
            for field in request.headerFields { outgoing.addValue(field.value, forHTTPHeaderField: field.name.rawName) }
            return exchanges.begin(session.dataTask(with: outgoing))
        }

        private static func failure(_ error: any Error) -> TransportError {
            if let error = error as? TransportError { return error }
            if error is CancellationError { return TransportError(.cancelled, reason: "the request was cancelled") }
            return switch (error as? URLError)?.code {
            case .timedOut: TransportError(.timedOut, reason: "no answer in time")
            case .cancelled: TransportError(.cancelled, reason: "the request was cancelled")
            case .badURL, .unsupportedURL: TransportError(.badRequest, reason: "the address cannot be used")
            default: TransportError(.unreachable, reason: "the connection failed")
            }
        }
    }

    /// What arrives of an answer.
    enum ExchangePiece: Sendable {
        case head(HTTPResponse)
        case body(Data)
    }

    /// An answer on its way, with the means to end it.
    struct ExchangePieces: Sendable {
        let stream: AsyncThrowingStream<ExchangePiece, any Error>
        let end: @Sendable (TransportError) -> Void

        /// Ends the exchange when the time is over; cancel what comes back when it is not to be ended any more.
        func expire(after timeout: Duration) -> Task<Void, Never> {
            Task {
                do { try await Task.sleep(for: timeout) } catch { return }
                end(TransportError(.timedOut, reason: "no answer in time"))
            }
        }
    }
#endif
