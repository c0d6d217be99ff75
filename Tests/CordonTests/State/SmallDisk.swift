#if os(Linux)
    import CordonTestSupport
    import CordonTesting
    import Foundation
    import Testing

    /// A disk of half a mebibyte, which a process of its own has mounted where nobody else sees it.
    final class SmallDisk: Sendable {
        /// Whether a process may have mounts of its own here.
        static let isPossible = (try? command(["true"]).map { try Program.run($0[0], Array($0[1...])).status }) == 0

        private let process: Process
        /// Its top.
        let folder: URL

        init() async throws {
            let command = try #require(Self.command(["touch", "/mnt/ready"], then: "exec cat"))
            process = Process()
            process.executableURL = URL(filePath: command[0])
            process.arguments = Array(command[1...])
            // It ends with this process.
            process.standardInput = Pipe()
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            folder = URL(filePath: "/proc/\(process.processIdentifier)/root/mnt", directoryHint: .isDirectory)
            let ready = folder.appending(path: "ready").path
            try await until { FileManager.default.fileExists(atPath: ready) }
        }

        deinit { process.terminate() }

        /// Takes all the room that there is.
        func fill() throws {
            let descriptor = open(folder.appending(path: UUID().uuidString).path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { return }
            defer { close(descriptor) }
            let page = [UInt8](repeating: 1, count: 4096)
            while write(descriptor, page, page.count) == page.count {}
        }

        private static func command(_ first: [String], then rest: String = "true") -> [String]? {
            guard let unshare = Program.find("unshare") else { return nil }
            let script = "mount -t tmpfs -o size=512k none /mnt && \"$@\" && \(rest)"
            return [unshare, "--map-root-user", "--mount", "--", "sh", "-c", script, "sh"] + first
        }
    }
#endif
