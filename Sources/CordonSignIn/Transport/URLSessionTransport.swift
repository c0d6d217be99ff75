#if canImport(Darwin)
    public import Foundation
    public import HTTPTypes

    /// The ``HTTPTransport`` of Apple platforms: a session of its own without cookies, cache or redirects.
    public struct URLSessionTransport: HTTPTransport {
        private let session: URLSession

        /// Makes a transport.
        ///
        /// - Parameter requiresTLS13: Whether nothing older than TLS 1.3 is spoken (SRV-CI-088); false where an OpenID provider
        ///   speaks 1.2 and no more.
        public init(requiresTLS13: Bool = true) {
            let configuration = URLSessionConfiguration.ephemeral
            if requiresTLS13 { configuration.tlsMinimumSupportedProtocolVersion = .TLSv13 }
            configuration.httpShouldSetCookies = false
            configuration.httpCookieStorage = nil
            configuration.urlCache = nil
            session = URLSession(configuration: configuration, delegate: NoRedirects(), delegateQueue: nil)
        }

        /// Sends a request and collects the answer.
        public func send(
            _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
        ) async throws(TransportError) -> HTTPAnswer {
            let (head, pieces) = try await begin(request, body: body, timeout: timeout)
            var collected = Data()
            do {
                for try await byte in pieces {
                    collected.append(byte)
                    guard collected.count <= limit else {
                        throw TransportError(.answerTooLarge, reason: "the answer is larger than \(limit) bytes")
                    }
                }
            } catch let error as TransportError {
                throw error
            } catch {
                throw Self.failure(error)
            }
            return HTTPAnswer(head: head, body: collected)
        }

        /// Sends a request and hands over the answer's body as it arrives, line by line.
        public func stream(
            _ request: HTTPRequest, timeout: Duration
        ) async throws(TransportError) -> HTTPAnswerStream {
            let (head, pieces) = try await begin(request, body: nil, timeout: timeout)
            let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
            let reading = Task {
                do {
                    var line = Data()
                    for try await byte in pieces {
                        line.append(byte)
                        if byte == UInt8(ascii: "\n") || line.count >= 4_096 {
                            continuation.yield(line)
                            line = Data()
                        }
                    }
                    if !line.isEmpty { continuation.yield(line) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: Self.failure(error))
                }
            }
            continuation.onTermination = { _ in reading.cancel() }
            return HTTPAnswerStream(head: head, body: stream)
        }

        private func begin(
            _ request: HTTPRequest, body: Data?, timeout: Duration
        ) async throws(TransportError) -> (HTTPResponse, URLSession.AsyncBytes) {
            guard let scheme = request.scheme, let authority = request.authority,
                let url = URL(string: "\(scheme)://\(authority)\(request.path ?? "/")")
            else { throw TransportError(.badRequest, reason: "the request has no absolute address") }
            var outgoing = URLRequest(url: url, timeoutInterval: TimeInterval(timeout.components.seconds))
            outgoing.httpMethod = request.method.rawValue
            outgoing.httpBody = body
            for field in request.headerFields { outgoing.addValue(field.value, forHTTPHeaderField: field.name.rawName) }
            do {
                let (bytes, response) = try await session.bytes(for: outgoing)
                guard let response = response as? HTTPURLResponse else {
                    throw TransportError(.unreachable, reason: "the answer is not HTTP")
                }
                var head = HTTPResponse(status: HTTPResponse.Status(code: response.statusCode))
                for (name, value) in response.allHeaderFields {
                    guard let name = (name as? String).flatMap({ HTTPField.Name($0) }), let value = value as? String
                    else { continue }
                    head.headerFields.append(HTTPField(name: name, value: value))
                }
                return (head, bytes)
            } catch let error as TransportError {
                throw error
            } catch {
                throw Self.failure(error)
            }
        }

        private static func failure(_ error: any Error) -> TransportError {
            switch (error as? URLError)?.code {
            case .timedOut: TransportError(.timedOut, reason: "no answer in time")
            case .cancelled: TransportError(.cancelled, reason: "the request was cancelled")
            case .badURL, .unsupportedURL: TransportError(.badRequest, reason: "the address cannot be used")
            default:
                error is CancellationError
                    ? TransportError(.cancelled, reason: "the request was cancelled")
                    : TransportError(.unreachable, reason: "the connection failed")
            }
        }
    }

    /// Hands every redirect to the caller instead of following it.
    private final class NoRedirects: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest
        ) async -> URLRequest? { nil }
    }
#endif
