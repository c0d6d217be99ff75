import CordonTestSupport
import Foundation
import Testing

@testable import CordonCommand

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// What systemd is told by a service of `Type=notify`, and its unit files.
@Suite(.timeLimit(.minutes(10))) struct NotifySocketTests {
    @Test func `what is told comes in one datagram for each time, and nothing where no supervisor listens`() throws {
        let manager = try Manager()
        let socket = try #require(NotifySocket(environment: ["NOTIFY_SOCKET": manager.path], process: 7))
        #expect(socket.signOfLife == nil)
        socket.tell(.ready, .status("answers at\nhttps://x"))
        socket.tell(.alive)
        #expect(manager.hear() == "READY=1\nSTATUS=answers at https://x")
        #expect(manager.hear() == "WATCHDOG=1")
        #expect(NotifySocket(environment: [:]) == nil)
        #expect(NotifySocket(environment: ["NOTIFY_SOCKET": "relative"]) == nil)
        NotifySocket(environment: ["NOTIFY_SOCKET": "/nowhere/\(UUID().uuidString)"])?.tell(.ready)
        NotifySocket(environment: ["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 200)])?.tell(.ready)
    }

    @Test func `a sign of life is due twice in the time that the watchdog waits, of this process alone`() {
        func pause(_ more: [String: String]) -> Duration? {
            NotifySocket(environment: more.merging(["NOTIFY_SOCKET": "/run/x"]) { $1 }, process: 7)?.signOfLife
        }
        #expect(pause(["WATCHDOG_USEC": "60000000"]) == .seconds(30))
        #expect(pause(["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "7"]) == .seconds(30))
        #expect(pause(["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "8"]) == nil)
        #expect(pause(["WATCHDOG_USEC": "0"]) == nil && pause(["WATCHDOG_USEC": "soon"]) == nil)
    }

    @Test(.enabled(if: builtCordon != nil, "needs the program"))
    func `a service tells when it answers, that it lives, and that it stops`() throws {
        try withServeFolder { folder in
            let manager = try Manager()
            let process = Process()
            let program: URL = try #require(builtCordon, "build the product cordon first")
            process.executableURL = program
            process.arguments = [
                "serve", "--development", "--listen", "127.0.0.1:0", "--data-directory", folder.path,
            ]
            process.environment = [
                "NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "200000", "PATH": "/usr/bin:/bin",
            ]
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            defer { if process.isRunning { process.terminate() } }
            var heard: [String] = []
            while !(heard.contains { $0.hasPrefix("READY=1\nSTATUS=answers at http://127.0.0.1:") }
                && heard.count { $0 == "WATCHDOG=1" } >= 2)
            {
                heard.append(try #require(manager.hear(), "\(heard)"))
            }
            process.terminate()
            while !heard.contains("STOPPING=1") { heard.append(try #require(manager.hear(), "\(heard)")) }
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
    }

    @Test func `systemd finds nothing wrong with the units, and they say what the manual says`() throws {
        let units = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Examples/Deployment"
        ).standardized
        let service = try String(contentsOf: units.appending(path: "cordon.service"), encoding: .utf8)
        for line in [
            "Type=notify", "WatchdogSec=60", "RestartPreventExitStatus=2 3 4", "Restart=on-failure",
            "Environment=SWIFT_BACKTRACE=enable=no",
        ] {
            #expect(service.contains("\n\(line)\n"), "\(line)")
        }
        guard let verifier = Program.find("systemd-analyze") else { return }
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        var files: [String] = []
        for name in ["cordon.service", "cordon-backup.service", "cordon-backup.timer"] {
            let text = try String(contentsOf: units.appending(path: name), encoding: .utf8)
                .replacing("/usr/local/bin/cordon", with: "/bin/true")
            let file = folder.appending(path: name)
            try Data(text.utf8).write(to: file)
            files.append(file.path)
        }
        let additions = folder.appending(path: "cordon.service.d")
        try FileManager.default.createDirectory(at: additions, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: units.appending(path: "cordon-secrets.conf"), to: additions.appending(path: "secrets.conf"))
        let verified = try Program.run(verifier, ["verify", "--man=no"] + files)
        let remarks = verified.everything.split(separator: "\n").filter { $0.contains(folder.path) }
        #expect(remarks == [])
        // The control: a mistake is found.
        let wrong = folder.appending(path: "wrong.service")
        try Data("[Service]\nExecStart=/bin/true\nTypo=yes\n".utf8).write(to: wrong)
        let found = try Program.run(verifier, ["verify", "--man=no", wrong.path]).everything
        #expect(found.contains("Typo"))
    }
}

/// The service manager's end: a datagram socket.
private final class Manager: Sendable {
    let path: String
    private let descriptor: Int32

    init() throws {
        path = TemporaryFolder.newPath().path + ".sock"
        #if canImport(Glibc)
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        #else
            descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #endif
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0)
        var limit = timeval(tv_sec: 300, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    /// The next datagram; nil when none comes in half a minute.
    func hear() -> String? {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }
}
