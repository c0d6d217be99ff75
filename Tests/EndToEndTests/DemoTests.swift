import CordonBase
import CordonDemo
import CordonHTTPClient
import CordonPolicy
import CordonSignIn
import CordonTestSupport
import CordonTesting
import Foundation
import HTTPTypes
import Testing

/// `cordon demo` as a newcomer runs it.
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct DemoTests {
    private struct Report: Decodable {
        let steps: [DemoStep]
        let expectations: Int
        let met: Int
    }

    private func run(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        let process = try ChildProcess(Programs.cordon, ["demo"] + arguments)
        var output = ""
        for await line in process.lines { output += line + "\n" }
        let status = await process.wait()
        return (status, output, await process.standardErrorTail)
    }

    @Test func `the demo meets every expectation, says so in its last line, and leaves no process and no file behind`()
        async throws
    {
        let temporary = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(temporary) }
        let process = try ChildProcess(Programs.cordon, ["demo"], environment: ["TMPDIR": temporary.path])
        var sawItsFolder = false
        var last = ""
        for await line in process.lines {
            sawItsFolder = try sawItsFolder || !FileManager.default.contentsOfDirectory(atPath: temporary.path).isEmpty
            if !line.isEmpty { last = line }
        }
        let status = await process.wait()
        let errors = await process.standardErrorTail
        #expect(status == 0, "\(errors)")
        let counts = last.matches(of: /\d+/).compactMap { Int($0.output) }
        #expect(last.hasSuffix("expectations met"))
        #expect(counts.count == 2 && counts[0] == counts[1] && counts[0] >= 7, "\(last)")
        #expect(sawItsFolder, "the demo worked where the test looks")
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path).isEmpty)
        #expect(try processes(naming: temporary).isEmpty)
    }

    /// The processes whose command lines name a folder.
    private func processes(naming folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { name in
            let line = FileManager.default.contents(atPath: "/proc/\(name)/cmdline") ?? Data()
            return Int32(name) != nil && String(decoding: line, as: UTF8.self).contains(folder.path)
        }
    }

    @Test(arguments: [[], ["--keep"]])
    func `a demo that is told to stop leaves no process behind, and no file unless it keeps them`(
        _ arguments: [String]
    ) async throws {
        let temporary = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(temporary) }
        let process = try ChildProcess(Programs.cordon, ["demo"] + arguments, environment: ["TMPDIR": temporary.path])
        for await _ in process.lines {
            #expect(try !processes(naming: temporary).isEmpty, "the service runs by now")
            break
        }
        process.signal(SIGTERM)
        #expect(await process.wait() == 128 + SIGTERM)
        try await until(every: .milliseconds(25)) { try processes(naming: temporary).isEmpty }
        let isKept = try !FileManager.default.contentsOfDirectory(atPath: temporary.path).isEmpty
        #expect(isKept == arguments.contains("--keep"))
    }

    @Test func `with json each step has name, verdict, duration and measured facts`() async throws {
        let (status, output, errors) = try await run(["--json", "--seed", "7"])
        #expect(status == 0, "\(errors)")
        let report = try JSONDecoder().decode(Report.self, from: Data(output.utf8))
        #expect(
            report.steps.map(\.name) == [
                "publish", "enroll", "write", "raw-bytes", "refuse", "change", "hand-over", "wipe", "audit",
            ])
        #expect(report.met == report.expectations)
        #expect(report.steps.allSatisfy { $0.milliseconds > 0 && !$0.facts.isEmpty && $0.verdict == "pass" })
    }

    /// An app that keeps a plain copy of what is typed: the kind of leak that the raw-bytes step is there to find.
    @Test func `an app that leaks makes the demo fail and name the expectation`() async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let leaky = folder.appending(path: "leaky-app")
        let script = """
            #!/bin/sh
            # Arguments begin with: --home FOLDER
            mkdir -p "$2"
            tee "$2/typed.log" | "\(Programs.fieldNotes.path)" "$@"
            """
        try Data(script.utf8).write(to: leaky)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: leaky.path)
        let (status, output, errors) = try await run(["--json", "--app", leaky.path])
        #expect(status == 1)
        #expect(errors.isEmpty || !errors.contains("cannot"), "\(errors)")
        let report = try JSONDecoder().decode(Report.self, from: Data(output.utf8))
        let failed = report.steps.flatMap(\.expectations).filter { !$0.held }.map(\.what)
        #expect(failed.contains("none of the planted texts is readable"))
    }

    @Test
    func
        `with stay a link opens the console signed in, and one of two phones carries out a wipe while the other keeps its data`()
        async throws
    {
        let temporary = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(temporary) }
        let process = try ChildProcess(Programs.cordon, ["demo", "--stay"], environment: ["TMPDIR": temporary.path])
        let hasEnded = Locked(false)
        let story = Task {
            for await _ in process.lines {}
            hasEnded.withLock { $0 = true }
        }
        var said = ""
        try await until(every: .milliseconds(50)) {
            said = await process.standardErrorTail
            return said.contains("Press Return") || hasEnded.withLock { $0 }
        }
        let link = try #require(said.firstMatch(of: /http:\/\/127\.0\.0\.1:\d+\/open\/[\w-]+/), "\(said)").0
        let console = try await OpenConsole(String(link))
        let people = try await console.get("/console/people")
        let worker = try ["A", "B"].map { letter in
            let row = try Regex("href=\"(/console/people/[^\"]+)\">Worker \(letter)<", as: (Substring, Substring).self)
            return String(try #require(people.firstMatch(of: row), "\(people)").1)
        }
        for path in worker { #expect(try await console.get(path).contains("Wipe a device…")) }
        // The worker has one phone, so there is none to choose.
        let page = try await console.get(worker[1] + "/wipe")
        #expect(page.contains("<h1>Wipe Phone of worker b"), "\(page)")
        let number = try #require(page.firstMatch(of: /Repeat the number (\d{4})/)).1
        let tag = try #require(page.firstMatch(of: /name="tag" value="([^"]+)"/)).1
        try await console.send(worker[1] + "/wipe", from: page, [("tag", String(tag)), ("number", String(number))])
        // The phone hears of it by itself.
        let wipes = "/console/wipes?user=" + worker[1].dropFirst("/console/people/".count)
        try await until(every: .milliseconds(100)) {
            try await console.get(wipes).contains("4 of 4: done, receipt verified")
        }
        #expect(try await console.get(worker[0]).contains("Wipe a device…"))
        try await until(every: .milliseconds(100)) { try await !console.get(worker[1]).contains("Wipe a device…") }
        await console.close()
        process.send("")
        #expect(await process.wait() == 0)
        await story.value
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path).isEmpty)
    }

    @Test func `an app that is not there is a one-line error with a hint`() async throws {
        let (status, output, errors) = try await run(["--app", "/nowhere/app"])
        #expect(status == 3)
        #expect(output.isEmpty)
        #expect(errors.contains("no example app") && errors.contains("swift build"))
    }
}

/// A browser that a link has signed in to the console.
private struct OpenConsole {
    private let transport = AsyncHTTPTransport()
    private let base: URL
    private let cookie: String

    init(_ link: String) async throws {
        let url = try #require(URL(string: link))
        let opened = try await transport.send(
            HTTPRequest(method: .get, url: url), body: nil, limit: 1 << 10, timeout: .seconds(60))
        base = try #require(opened.head.headerFields[.location].flatMap { URL(string: $0) })
        cookie = try String(#require(opened.head.headerFields[.setCookie]).prefix { $0 != ";" })
    }

    func get(_ path: String) async throws -> String { try await ask(.get, path, nil) }

    /// Sends a form with the token of its page.
    func send(_ path: String, from page: String, _ values: [(key: String, value: String)]) async throws {
        let token = try #require(page.firstMatch(of: /name="csrf" value="([^"]+)"/)).1
        _ = try await ask(.post, path, FormEncoding.encode([("csrf", String(token))] + values))
    }

    func close() async { await transport.shutdown() }

    private func ask(_ method: HTTPRequest.Method, _ path: String, _ form: String?) async throws -> String {
        let url = try #require(URL(string: path, relativeTo: base)).absoluteURL
        var request = HTTPRequest(method: method, url: url)
        request.headerFields[.cookie] = cookie
        if form != nil { request.headerFields[.contentType] = "application/x-www-form-urlencoded" }
        let answer = try await transport.send(
            request, body: form.map { Data($0.utf8) }, limit: 1 << 20, timeout: .seconds(60))
        #expect([200, 303].contains(answer.head.status.code), "\(path): \(answer.head.status)")
        return String(decoding: answer.body, as: UTF8.self)
    }
}
