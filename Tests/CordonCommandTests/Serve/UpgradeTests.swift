import CordonTestSupport
import Foundation
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// `Examples/Deployment/upgrade.sh`, as the manual has people run it, with a `systemctl` that starts and stops the program itself.
@Suite(.tags(.machineAlone), .timeLimit(.minutes(10))) struct UpgradeTests {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../../Examples/Deployment/upgrade.sh"
    ).standardized

    /// What `systemctl restart cordon` does here.
    private static let systemctl = #"""
        #!/bin/sh
        pid=$(cat "$STATE/pid" 2>/dev/null || true)
        if [ -n "$pid" ]; then
            kill "$pid" 2>/dev/null || true
            tries=100
            while [ "$tries" -gt 0 ] && grep -q '^State:.[^ZX]' "/proc/$pid/status" 2>/dev/null; do
                tries=$((tries - 1))
                sleep 0.1
            done
        fi
        [ "${1:-}" = stop ] && exit 0
        # A service that runs on has nothing open of the process that started it, which would wait for its end otherwise.
        bash -c 'for fd in /proc/self/fd/*; do n=${fd##*/}; [ "$n" -le 2 ] || eval "exec $n>&-"; done
            exec "$UPGRADE_BINARY" serve --config "$UPGRADE_CONFIG"' > "$STATE/out" 2> "$STATE/err" < /dev/null &
        echo $! > "$STATE/pid"
        """#

    private struct Machine {
        let folder: URL
        let environment: [String: String]

        init(_ folder: URL) throws {
            let cordon = try #require(builtCordon, "build the product cordon first")
            self.folder = folder
            let port = try #require(Self.freePort())
            for name in ["bin", "data", "backups"] {
                try FileManager.default.createDirectory(
                    at: folder.appending(path: name), withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700])
            }
            // A link, because the program is large.
            try FileManager.default.createSymbolicLink(
                at: folder.appending(path: "bin/cordon"), withDestinationURL: cordon)
            let settings = """
                {"listen": "127.0.0.1:0", "metrics": "127.0.0.1:\(port)", "dataDirectory": "\(folder.path)/data",
                 "tenant": "contoso", "issuers": ["https://login.example.test"]}
                """
            try Data(settings.utf8).write(to: folder.appending(path: "service.json"))
            let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
            environment = [
                "PATH": folder.appending(path: "bin").path + ":" + path, "STATE": folder.path,
                "UPGRADE_BINARY": folder.appending(path: "bin/cordon").path,
                "UPGRADE_CONFIG": folder.appending(path: "service.json").path,
                "UPGRADE_BACKUPS": folder.appending(path: "backups").path, "UPGRADE_SECONDS": "10",
                "UPGRADE_READY": "http://127.0.0.1:\(port)/readyz",
                "UPGRADE_USER": try Program.succeed("/usr/bin/id", ["-un"]).text.trimmingCharacters(in: .newlines),
            ]
            try write(UpgradeTests.systemctl, to: "bin/systemctl")
        }

        /// Writes a program.
        @discardableResult
        func write(_ text: String, to name: String) throws -> String {
            let file = folder.appending(path: name)
            try Data(text.utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
            return file.path
        }

        /// Runs a program of the machine.
        func run(_ program: String, _ arguments: String...) throws -> Program.Result {
            try Program.run("/bin/sh", [program] + arguments, in: folder, environment: environment)
        }

        func systemctl(_ verb: String) throws { _ = try run(folder.appending(path: "bin/systemctl").path, verb) }

        var backups: Int {
            (try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "backups").path).count) ?? 0
        }

        /// A port that nothing listens on.
        private static func freePort() -> UInt16? {
            #if canImport(Glibc)
                let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            #else
                let descriptor = socket(AF_INET, SOCK_STREAM, 0)
            #endif
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let found = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
                }
            }
            return found ? UInt16(bigEndian: address.sin_port) : nil
        }
    }

    @Test(.enabled(if: builtCordon != nil, "needs the program"))
    func `a version that answers stays, one that does not is taken back, and one that reads no backup changes nothing`()
        throws
    {
        try #require(Program.find("curl") != nil && Program.find("setpriv") != nil)
        try withServeFolder { folder in
            let machine = try Machine(folder)
            defer { try? machine.systemctl("stop") }
            let cordon = try #require(builtCordon).path
            try machine.systemctl("restart")
            let good = try machine.run(Self.script.path, cordon)
            #expect(good.status == 0, "\(good.everything)")
            #expect(good.everything.contains("done;") && machine.backups == 1)

            let silent = try machine.write(
                "#!/bin/sh\ncase \"$1 $2\" in \"serve --config\") exit 3;; esac\nexec \(cordon) \"$@\"\n", to: "silent")
            let back = try machine.run(Self.script.path, silent)
            #expect(back.status == 1 && back.everything.contains("answers again"), "\(back.everything)")
            let installed = folder.appending(path: "bin/cordon").path
            #expect(try Program.run("/usr/bin/cmp", [installed, cordon]).status == 0)

            let blind = try machine.write(
                "#!/bin/sh\ncase \"$1\" in restore) exit 3;; esac\nexec \(cordon) \"$@\"\n", to: "blind")
            let refused = try machine.run(Self.script.path, blind)
            #expect(refused.status == 3 && !refused.everything.contains("going back"), "\(refused.everything)")
            #expect(try Program.run("/usr/bin/cmp", [installed, cordon]).status == 0)
        }
    }
}
