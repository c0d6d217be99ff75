import CordonDemo
import CordonSignIn
import Foundation
import Testing

/// A real browser in a process of its own, driven by `Tests/Providers/browse.py`; cookies last until it closes.
///
/// A walk goes on to its end also where nobody waits for it any more, as after a sign-in that has its answer; the next one begins after it.
actor HeadlessBrowser {
    struct Stuck: Error, CustomStringConvertible {
        let description: String
    }

    private struct Visit: Encodable {
        let page: String
        let destination: String
        let user: String
        let password: String
    }

    private let process: ChildProcess
    private var walk: Task<Void, any Error>?

    init() throws {
        process = try ChildProcess(Providers.python, [Providers.script("browse.py").path])
    }

    /// Lets a person walk from a page to where it leads.
    func visit(_ page: URL, to destination: String, as user: String) async throws {
        let visit = Visit(
            page: page.absoluteString, destination: destination, user: user, password: Providers.password(of: user))
        let next = Task { [before = walk, process] in
            _ = await before?.result
            try await Self.walk(visit, in: process)
        }
        walk = next
        try await next.value
    }

    private static func walk(_ visit: Visit, in process: ChildProcess) async throws {
        process.send(String(decoding: try JSONEncoder().encode(visit), as: UTF8.self))
        for await line in process.lines {
            guard line.contains("\"arrived\"") else { throw Stuck(description: line) }
            return
        }
        throw Stuck(description: "the browser ended: \(await process.standardErrorTail)")
    }

    /// A launcher with which this person signs in, or out.
    nonisolated func launcher(as user: String) -> BrowserLauncher {
        BrowserLauncher { page, redirect in
            try await self.visit(page, to: redirect.absoluteString, as: user)
            return nil
        }
    }

    func close() async { await process.end(grace: .seconds(20)) }
}
