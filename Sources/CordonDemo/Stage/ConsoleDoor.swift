internal import CordonBase
internal import CordonProtocol
internal import CordonSignIn
internal import Foundation

/// A link that opens the console signed in: it hands the session of the demo's administrator to the first browser that comes with
/// it.
///
/// The demo has signed in already. Cookies of 127.0.0.1 hold for all of its ports (RFC 6265 §8.5), so the door, on a port of its own,
/// sets the cookie and sends the browser on. The link has 256 random bits, works once, and only for a request to this very address.
final class ConsoleDoor: Sendable {
    /// The link to open.
    let link: URL
    private let socket: LoopbackSocket
    private let path: String
    private let host: String
    private let answer: Data

    /// - Parameters:
    ///   - cookie: The session's cookie, as `name=value`.
    ///   - console: Where the browser goes on to.
    /// - Throws: ``ProgramError`` where no port is free, or the cookie is none.
    init(cookie: String, console: URL) throws(ProgramError) {
        guard let socket = LoopbackSocket(port: 0) else { throw ProgramError.stage("no port is free for the link") }
        let isPlain = (cookie + console.absoluteString).utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3B }
        path = "/open/" + Base64URL.encode(Data((0..<32).map { _ in UInt8.random(in: .min ... .max) }))
        host = "127.0.0.1:\(socket.port)"
        guard isPlain, cookie.contains("="), let link = URL(string: "http://\(host)\(path)") else {
            throw ProgramError.stage("the console gave no session")
        }
        self.link = link
        self.socket = socket
        answer = Self.response(
            "303 See Other",
            ["Location: \(console.absoluteString)", "Set-Cookie: \(cookie); Path=/; HttpOnly; SameSite=Lax"])
    }

    /// Waits for the first browser that comes with the link, for at most a day, in a thread of its own.
    func open() {
        Thread.detachNewThread { [self] in
            _ = socket.serve(within: .seconds(86_400)) { head in
                isFor(head) ? .accepted(path, answer) : .refused(Self.response("404 Not Found", []))
            }
        }
    }

    /// Stops waiting.
    func close() { socket.stop() }

    private func isFor(_ head: String) -> Bool {
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
        let words = (lines.first ?? "").split(separator: " ")
        let hosts = lines.dropFirst().filter { $0.lowercased().hasPrefix("host:") }
        return words.count == 3 && words[0] == "GET" && ConstantTime.equal(String(words[1]), path) && hosts.count == 1
            && hosts[0].dropFirst(5).trimmingCharacters(in: .whitespaces) == host
    }

    private static func response(_ status: String, _ fields: [String]) -> Data {
        let head =
            ["HTTP/1.1 \(status)"] + fields + [
                "Content-Length: 0", "Cache-Control: no-store", "Referrer-Policy: no-referrer", "Connection: close", "",
                "",
            ]
        return Data(head.joined(separator: "\r\n").utf8)
    }
}
