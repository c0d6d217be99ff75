import ArgumentParser
import CordonBase
import Foundation
import Logging
import Testing

@testable import CordonCommand

/// What `cordon serve --log-format json` writes.
@Suite struct ServeLoggingTests {
    private func lines(_ work: (Logger) -> Void) throws -> [[String: String]] {
        let written = Locked<[String]>([])
        var logger = Logger(label: "cordon.serve") { label in
            JSONLogHandler(label: label) { line in written.withLock { $0.append(line) } }
        }
        logger.logLevel = .info
        work(logger)
        let lines = written.withLock { $0 }
        return try lines.map { try JSONDecoder().decode([String: String].self, from: Data($0.utf8)) }
    }

    @Test func `a line is one object with the time, the level and what was said`() throws {
        let lines = try lines { logger in
            logger.info("answered", metadata: ["route": "users/*", "status": "200", "request": "r-1"])
            logger.debug("not at this level")
        }
        #expect(lines.count == 1)
        #expect(lines.first?["message"] == "answered" && lines.first?["level"] == "info")
        #expect(lines.first?["route"] == "users/*" && lines.first?["status"] == "200")
        #expect(lines.first?["time"]?.hasSuffix("Z") == true)
    }

    @Test func `a line feed or a quote in a message stays inside the object`() throws {
        let lines = try lines { $0.notice("two\nlines \"quoted\"") }
        #expect(lines.map { $0["message"] } == ["two\nlines \"quoted\""])
    }

    @Test func `what is not known to be without a person is left out`() throws {
        let lines = try lines { logger in
            logger.info(
                "x",
                metadata: [
                    "person": "oid-a", "hb.request.path": "/users/a@contoso.example", "token": "t", "code": "203",
                ])
        }
        #expect(Set(lines.first?.keys.map { $0 } ?? []) == ["time", "level", "logger", "message", "code"])
    }

    @Test func `every name that the service logs with is written, but for people's`() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")
        var logged: Set<String> = []
        for target in [
            "CordonService", "CordonServiceHTTP", "CordonServiceSQLite", "CordonGraph", "CordonCommand/Serve",
        ] {
            let folder = sources.appending(path: target)
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.hasSuffix(".swift")
            {
                let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
                for call in text.matches(of: #/metadata: \[([^\]]*)\]/#) {
                    logged.formUnion(call.1.matches(of: #/"([a-zA-Z]+)":/#).map { String($0.1) })
                }
                logged.formUnion(text.matches(of: #/line\["([a-zA-Z]+)"\] = /#).map { String($0.1) })
            }
        }
        #expect(logged.isSuperset(of: ["batch", "correlation", "alert", "apps"]), "the search finds what is there")
        #expect(logged.subtracting(JSONLogHandler.names) == [])
    }

    @Test func `the file, the environment and a flag choose form and level`() throws {
        try withServeFolder { folder in
            let file = folder.appending(path: "service.json")
            try Data(#"{"logFormat": "json", "logLevel": "warning"}"#.utf8).write(to: file)
            let set = try ServeOptions.parse(["--config", file.path]).plan(environment: [:]).logging
            #expect(set == ServeLogging(level: .warning, format: .json))
            let flag = try ServeOptions.parse(["--config", file.path, "--log-format", "text"])
                .plan(environment: ["CORDON_LOG_LEVEL": "info"]).logging
            #expect(flag == ServeLogging(level: .info, format: .text))
            #expect(throws: CommandFailure.self) {
                _ = try ServeOptions.parse([]).plan(environment: ["CORDON_LOG_LEVEL": "loud"])
            }
            try Data(#"{"logFormat": "xml"}"#.utf8).write(to: file)
            #expect {
                _ = try ServeOptions.parse(["--config", file.path]).plan(environment: [:])
            } throws: { ($0 as? CommandFailure)?.message.contains("logFormat") == true }
        }
    }
}
