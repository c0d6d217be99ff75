#if os(Linux)
    import CordonBase
    import CordonTestSupport
    import CordonTesting
    import Foundation

    @testable import Cordon

    /// A TPM 2 in a process beside the tests: the emulator of Debian.
    final class EmulatedTPM: Sendable {
        static let program = Program.find("swtpm")

        let folder: URL
        var socket: URL { folder.appending(path: "tpm") }
        private var state: URL { folder.appending(path: "state") }
        private let process = Locked<Process?>(nil)

        init() async throws {
            folder = try TemporaryFolder.make()
            try await start()
        }

        deinit {
            process.withLock { _ = $0.map { kill($0.processIdentifier, SIGKILL) } }
            TemporaryFolder.remove(folder)
        }

        func start() async throws {
            try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
            let process = Process()
            process.executableURL = URL(filePath: Self.program ?? "")
            process.arguments = [
                "socket", "--tpm2", "--server", "type=unixio,path=\(socket.path)", "--tpmstate",
                "dir=\(state.path)", "--flags", "not-need-init,startup-clear",
            ]
            process.standardError = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            self.process.withLock { $0 = process }
            // The socket has its name a moment before it listens.
            let probe = TPMIndex(device: socket.path, handle: 0x0180_0001, kind: .counter, password: [])
            try await until { (try? probe.content()) != nil }
        }

        func stop() async {
            guard
                let process = process.withLock({ process in
                    defer { process = nil }
                    return process
                })
            else { return }
            await withCheckedContinuation { ended in
                process.terminationHandler = { _ in ended.resume() }
                // Left alone with a connection it does not hear SIGTERM; what it has answered for is on the disk.
                kill(process.processIdentifier, SIGKILL)
            }
            try? FileManager.default.removeItem(at: socket)
        }

        /// Takes away everything that it holds, as the machine's firmware does when a person clears the TPM.
        func clear() async throws {
            await stop()
            try FileManager.default.removeItem(at: state)
            try await start()
        }
    }

    /// What stands between an app and its TPM: it passes on what both say, and can cut the app off where it changes something in the TPM, which is for the app as if it
    /// was killed there, or answer itself.
    final class TPMBetween: Sendable {
        private struct State {
            /// How many more changes until the one that is cut off; nil for none.
            var left: Int?
            /// Whether that one reaches the TPM.
            var isDone = false
            var seen: [[UInt8]] = []
            var falsify: (@Sendable (_ command: Int, _ answer: [UInt8]) -> [UInt8]?)?
        }

        /// What changes an index, by a session of its own.
        private static let sessions: Set<Int> = [0x134, 0x137]
        /// What makes an index or a key, or keeps one, by the owner's password.
        private static let owners: Set<Int> = [0x12A, 0x131, 0x120]

        private let socket: TPMSocket
        private let state: Locked<State>
        var place: URL { socket.place }

        init(_ tpm: EmulatedTPM) throws {
            let state = Locked(State())
            self.state = state
            let path = tpm.socket.path
            socket = try TPMSocket { command in TPMBetween.pass(command, to: path, state) }
        }

        /// Cuts the app off at a change from now on, before or after the TPM has made it; nil for none.
        func cut(at change: Int?, isDone: Bool = false) {
            state.withLock { state in
                state.left = change
                state.isDone = isDone
            }
        }

        /// Answers commands in the TPM's place from now on, given what the TPM has answered; nil lets that through.
        func falsify(_ falsify: (@Sendable (_ command: Int, _ answer: [UInt8]) -> [UInt8]?)?) {
            state.withLock { $0.falsify = falsify }
        }

        /// All commands and answers until now.
        var seen: [[UInt8]] { state.withLock { $0.seen } }

        private static func pass(_ command: [UInt8], to path: String, _ state: Locked<State>) -> [UInt8]? {
            let code = TPMSocket.code(of: command)
            let cut = state.withLock { state -> (isHere: Bool, isDone: Bool) in
                state.seen.append(command)
                guard sessions.union(owners).contains(code), let left = state.left else { return (false, false) }
                state.left = left == 1 ? nil : left - 1
                return (left == 1, state.isDone)
            }
            if cut.isHere, !cut.isDone {
                // The kernel ends the session of who was killed; the emulator has to be told.
                let flush: [UInt8] = [0x80, 0x01, 0, 0, 0, 14, 0, 0, 0x01, 0x65] + command[22..<26]
                if sessions.contains(code) { _ = try? TPMChannel(path: path).answer(to: flush) }
                return nil
            }
            guard let answer = try? TPMChannel(path: path).answer(to: command), !cut.isHere else { return nil }
            return state.withLock { state in
                state.seen.append(answer)
                return state.falsify?(code, answer) ?? answer
            }
        }
    }
#endif
