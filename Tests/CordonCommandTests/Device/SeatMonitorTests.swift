import CordonBase
import CordonBroker
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonCommand

/// The tool that tells of the screen lock, played by a script.
@Suite(.timeLimit(.minutes(10))) struct SeatMonitorTests {
    private static let script = """
        #!/bin/sh
        session=/org/freedesktop/login1/session/_32
        case "$*" in
        monitor*)
            echo "Monitoring signals from all objects owned by org.freedesktop.login1"
            echo "$session: org.freedesktop.DBus.Properties.PropertiesChanged ('org.freedesktop.login1.Session', {'LockedHint': <true>}, @as [])"
            ;;
        *ActiveSession*) echo "(<('2', objectpath '$session')>,)" ;;
        *LockedHint*) echo "(<false>,)" ;;
        *Class*) echo "(<'user'>,)" ;;
        esac
        """

    @Test func `a monitor says how the screen is, tells when the tool dies, and starts it again`() async throws {
        let folder = TemporaryFolder.newPath()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let tool = folder.appending(path: "gdbus").path
        try Data(Self.script.utf8).write(to: URL(filePath: tool))
        try #require(chmod(tool, 0o755) == 0)
        let monitor = try SeatMonitor.start(tool) { _ in .zero }
        var heard: [SeatEvent] = []
        for await event in monitor.events {
            heard.append(event)
            if heard.count(where: { $0 == .unheard }) == 2 { break }
        }
        monitor.stop()
        let once: [SeatEvent] = [.unlocked, .unlocked, .locked, .unheard]
        #expect(heard == once + once)
        let ended = Task { for await _ in monitor.events {} }
        await ended.value
    }

    @Test(arguments: ["ActiveSession", "LockedHint", "Class"])
    func `a question that logind leaves unanswered once does not leave the screen locked`(question: String) async throws
    {
        let folder = TemporaryFolder.newPath()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let tool = folder.appending(path: "gdbus").path
        // It goes on listening: only the question fails, and only the first time.
        let script = Self.script
            .replacing(
                "case \"$*\" in",
                with: "case \"$*\" in\n*\(question)*) mkdir \"$0.asked\" && exit 1 ;; esac\ncase \"$*\" in"
            )
            .replacing("@as [])\"", with: "@as [])\"; exec sleep 100000")
        try Data(script.utf8).write(to: URL(filePath: tool))
        try #require(chmod(tool, 0o755) == 0)
        let monitor = try SeatMonitor.start(tool) { _ in .zero }
        defer { monitor.stop() }
        let heard = Locked<[SeatEvent]>([])
        let listening = Task { for await event in monitor.events { heard.withLock { $0.append(event) } } }
        defer { listening.cancel() }
        try await until { heard.withLock { $0.contains(.unlocked) } }
        #expect(heard.withLock { $0.first } == .unheard)
    }

    @Test func `a tool that is not there is told before the broker starts`() {
        #expect(throws: CommandFailure.self) { try SeatMonitor.start("/nowhere/gdbus") }
    }
}
