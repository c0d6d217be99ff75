import CordonBase
import CordonProtocol
import CordonTestSupport
import Foundation
import Glibc

@testable import CordonSignIn

/// A broker that greets, answers nothing else but what it is given, and hangs up where it is told to.
final class SilentBroker: Sendable {
    /// Nothing can listen there.
    struct Refused: Error {}

    let path: String
    private let listener: Int32
    private let heard = Locked<[String]>([])
    private let hangsUpAt: BrokerVerb?
    private let version: Int
    private let nonce: String?
    private let shortSubscriptions: Int
    private let answer: @Sendable (BrokerRequestHead, Int) -> [Data]

    /// What was asked, over all connections, in order.
    var verbs: [String] { heard.withLock { $0 } }

    /// Listens.
    ///
    /// - Parameters:
    ///   - count: How often to hang up right after a subscription to events was answered.
    ///   - answer: The frames to send for a request; the number says how often its verb came before.
    init(
        hangingUpAt verb: BrokerVerb? = nil, version: Int = BrokerLink.version, nonce: String? = "n",
        hangingUpAfterSubscriptions count: Int = 0,
        answering answer: @escaping @Sendable (BrokerRequestHead, Int) -> [Data] = { _, _ in [] }
    ) throws {
        hangsUpAt = verb
        shortSubscriptions = count
        self.version = version
        self.nonce = nonce
        self.answer = answer
        path = TemporaryFolder.newPath().path
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isBound, listen(listener, 4) == 0 else { throw Refused() }
        Thread { self.serve() }.start()
    }

    /// Stops listening.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        unlink(path)
    }

    private func serve() {
        while true {
            let descriptor = accept(listener, nil, nil)
            guard descriptor >= 0 else { break }
            Thread { self.talk(descriptor) }.start()
        }
        close(listener)
    }

    private func talk(_ descriptor: Int32) {
        defer { close(descriptor) }
        var reader = BrokerFrameReader(limit: BrokerFrame.largestRequest)
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            reader.append(buffer[..<count])
            while let payload = try? reader.next() {
                guard let request = try? MessageCoding.decode(BrokerRequestHead.self, from: payload) else { return }
                let before = heard.withLock { heard in
                    defer { heard.append(request.verb) }
                    return heard.count { $0 == request.verb }
                }
                if request.verb == hangsUpAt?.rawValue { return }
                if request.verb == BrokerVerb.hello.rawValue { greet(request.id, descriptor) }
                for frame in answer(request, before) { write(frame, descriptor) }
                if request.verb == BrokerVerb.eventsSubscribe.rawValue, before < shortSubscriptions { return }
            }
        }
    }

    private func greet(_ id: UInt32, _ descriptor: Int32) {
        let greeting = BrokerGreeting(version: version, broker: "silent", session: 1, features: [], nonce: nonce)
        let answer = BrokerMessage(greeting, to: HelloCall.self, id: id)
        guard let payload = try? MessageCoding.encode(answer) else { return }
        write(BrokerFrame.encode(payload), descriptor)
    }

    private func write(_ frame: Data, _ descriptor: Int32) {
        let bytes = Array(frame)
        _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
}
