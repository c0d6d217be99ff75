#if os(Linux)
    internal import CordonBase
    internal import Foundation

    #if canImport(CoreFoundation)
        // Where another library brings it in, the members of `stat` are its own.
        internal import CoreFoundation
    #endif
    #if canImport(CDispatch)
        internal import CDispatch
    #endif
    #if canImport(Glibc)
        internal import Glibc
    #elseif canImport(Musl)
        internal import Musl
    #endif

    /// One opening of a TPM 2: of the kernel's resource manager, which forgets with it what was begun over it, or of the socket of an emulator.
    final class TPMChannel {
        /// No answer is larger.
        private static let largestAnswer = 4096
        /// How long an emulator may take. The kernel has limits of its own.
        private static let patience = timeval(tv_sec: 30, tv_usec: 0)

        let path: String
        private let descriptor: Int32
        private let isSocket: Bool

        /// - Throws: ``ProtectionError`` with code `stateUnreadable`.
        init(path: String) throws(ProtectionError) {
            self.path = path
            (descriptor, isSocket) = try Self.opened(path)
        }

        deinit { close(descriptor) }

        /// Sends a command and gives the answer, whose length is the one that it states.
        ///
        /// - Throws: ``ProtectionError`` with code `stateUnreadable`.
        func answer(to command: [UInt8]) throws(ProtectionError) -> [UInt8] {
            // A command is one write: the kernel takes no second half. A socket whose other end is gone must not end the process.
            let sent =
                isSocket
                ? send(descriptor, command, command.count, Int32(MSG_NOSIGNAL))
                : write(descriptor, command, command.count)
            guard sent == command.count else { throw Self.failure(path, "takes no command") }
            var answer: [UInt8] = []
            while answer.count < 10 || answer.count < Self.size(of: answer) {
                var piece = [UInt8](repeating: 0, count: Self.largestAnswer)
                let count = read(descriptor, &piece, piece.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0, answer.count + count <= Self.largestAnswer else {
                    throw Self.failure(path, "gives no answer")
                }
                answer += piece.prefix(count)
            }
            guard answer.count == Self.size(of: answer) else { throw Self.failure(path, "gives no whole answer") }
            return answer
        }

        private static func size(of answer: [UInt8]) -> Int { answer[2..<6].reduce(0) { $0 << 8 | Int($1) } }

        private static func opened(_ path: String) throws(ProtectionError) -> (descriptor: Int32, isSocket: Bool) {
            guard !path.utf8.contains(0) else { throw failure(path, "is not there") }
            var status = stat()
            guard stat(path, &status) == 0 else { throw failure(path, "is not there") }
            if status.st_mode & S_IFMT == S_IFSOCK { return (try connected(path), true) }
            let descriptor = open(path, O_RDWR | O_CLOEXEC)
            guard descriptor >= 0 else { throw failure(path, "cannot be opened") }
            return (descriptor, false)
        }

        private static func connected(_ path: String) throws(ProtectionError) -> Int32 {
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { throw failure(path, "cannot be reached") }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let room = MemoryLayout.size(ofValue: address.sun_path)
            guard path.utf8.count < room else {
                close(descriptor)
                throw ProtectionError(.stateUnreadable, "the path of the TPM's socket is longer than \(room - 1) bytes")
            }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let isConnected = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                }
            }
            guard isConnected else {
                let number = errno
                close(descriptor)
                errno = number
                throw failure(path, "cannot be reached")
            }
            var patience = Self.patience
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
            return descriptor
        }

        private static func failure(_ path: String, _ what: String) -> ProtectionError {
            ProtectionError(
                .stateUnreadable, "the TPM at \(path) \(what) (errno \(errno))",
                hint: "The user of the app needs to read and write the device, such as by the group tss.")
        }
    }
#endif
