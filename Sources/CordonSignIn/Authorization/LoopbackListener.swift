internal import CordonBase
internal import CordonIdentity
internal import Foundation

/// Waits on 127.0.0.1 for the one request that carries an answer (RFC 8252 §7.3, SI-172).
///
/// Idle connections that browsers open in advance do not hold up the real one. Whatever is not a GET of the
/// path on this very address that repeats the request's state gets 404 and ends nothing: any program of the device and
/// any page in a browser can send one. The answer page shows no parameters.
final class LoopbackListener: Sendable {
    /// The address to register as redirect.
    let redirect: String
    private let socket: LoopbackSocket
    private let path: String
    private let host: String

    /// Listens on the first free of the ports, on any free port when none is given (SI-173).
    init(path: String, ports: [UInt16]) throws(SignInError) {
        guard path.hasPrefix("/"), path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x3F && $0 != 0x23 }) else {
            throw SignInError(.configuration, .invalidRedirect, "the redirect's path is not a plain path")
        }
        var opened: LoopbackSocket?
        for port in ports.isEmpty ? [0] : ports {
            opened = LoopbackSocket(port: port)
            if opened != nil { break }
        }
        guard let opened else {
            throw SignInError(
                .configuration, .invalidRedirect, "none of the redirect's ports is free",
                hint: "Close the program that uses the port, or register more ports.")
        }
        socket = opened
        host = "127.0.0.1:\(opened.port)"
        self.path = path
        redirect = "http://\(host)\(path)"
    }

    /// The address of the first request that repeats the state; the port is closed afterwards.
    ///
    /// - Throws: ``SignInError``: `cancelled` with fault `timedOut` after the time-out, with `stopped` when the task
    ///   was cancelled.
    func answer(to state: String, within timeout: Duration) async throws(SignInError) -> URL {
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // A thread of its own, because waiting on sockets would block the shared ones.
                let thread = Thread {
                    continuation.resume(
                        returning: self.socket.serve(within: timeout) { self.reply(to: $0, state) })
                }
                thread.start()
            }
        } onCancel: {
            socket.stop()
        }
        switch outcome {
        case .accepted(let target):
            guard let url = URL(string: "http://\(host)\(target)") else {
                throw SignInError(.server, .invalidResponse, "the answer is not an address")
            }
            return url
        case .stopped: throw SignInReturn.stopped
        case .timedOut: throw SignInReturn.timedOut
        }
    }

    /// Stops listening; a waiting ``answer(within:)`` ends.
    func stop() { socket.stop() }

    private func reply(to head: String, _ state: String) -> LoopbackSocket.Reply {
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
        let words = (lines.first ?? "").split(separator: " ")
        let hosts = lines.dropFirst().filter { $0.lowercased().hasPrefix("host:") }
        guard words.count == 3, words[0] == "GET", words[2].hasPrefix("HTTP/1."), hosts.count == 1,
            hosts[0].dropFirst(5).trimmingCharacters(in: .whitespaces) == host
        else { return Self.nothingHere }
        let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard target.first ?? "" == path, target.count == 2, let answer = FormEncoding.unique(String(target[1])),
            let named = answer["state"], ConstantTime.equal(named, state)
        else { return Self.nothingHere }
        let page =
            answer["error"] == nil
            ? Self.page("200 OK", "You can close this window and go back to the app.")
            : Self.page("200 OK", "The sign-in did not succeed. Close this window; the app says why.")
        return .accepted(String(words[1]), page)
    }

    private static var nothingHere: LoopbackSocket.Reply { .refused(page("404 Not Found", "There is nothing here.")) }

    private static func page(_ status: String, _ text: String) -> Data {
        let body =
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Sign-in</title><p>\(text)</p></html>\n"
        let head = [
            "HTTP/1.1 \(status)", "Content-Type: text/html; charset=utf-8", "Content-Length: \(body.utf8.count)",
            "Cache-Control: no-store", "Referrer-Policy: no-referrer", "Content-Security-Policy: default-src 'none'",
            "X-Content-Type-Options: nosniff", "Connection: close", "", "",
        ]
        return Data((head.joined(separator: "\r\n") + body).utf8)
    }
}
