internal import CordonBase
internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// What else the kernel says of the other end of a Unix-domain socket (SI-189, SI-192).
extension PeerCredentials {
    #if os(Linux)
        /// `SO_PEERPIDFD`, Linux 6.5.
        private static let peerProcessDescriptor: Int32 = 77
        /// `SO_PEERGROUPS`, Linux 4.13.
        private static let peerGroups: Int32 = 59
        /// `SO_PEERSEC`.
        private static let peerSecurity: Int32 = 31
        /// `SCM_CREDENTIALS`.
        private static let credentials: Int32 = 2
        /// `struct ucred`: process, user and group, 32 bits each.
        private static let credentialsSize = 12

        /// The groups at the time of connecting; nil where the kernel does not say.
        static func groups(socket: Int32) -> Set<UInt32>? {
            guard let peer = PeerCredentials(socket: socket) else { return nil }
            // Without room the kernel says how much it needs.
            var size: socklen_t = 0
            let isNone = getsockopt(socket, SOL_SOCKET, peerGroups, nil, &size) == 0
            guard isNone || errno == ERANGE else { return nil }
            var others = [UInt32](repeating: 0, count: Int(size) / MemoryLayout<UInt32>.size)
            guard isNone || getsockopt(socket, SOL_SOCKET, peerGroups, &others, &size) == 0 else { return nil }
            return Set(others).union([peer.group])
        }

        /// The security label at the time of connecting, as AppArmor or SELinux gives it; nil where the system has none. One
        /// that AppArmor only records the breaches of counts as none.
        static func label(socket: Int32) -> String? {
            var bytes = [UInt8](repeating: 0, count: 4_096)
            var size = socklen_t(bytes.count)
            guard getsockopt(socket, SOL_SOCKET, peerSecurity, &bytes, &size) == 0 else { return nil }
            return label(in: bytes.prefix(Int(size)))
        }

        /// Reads a label, which may end in a zero or a line feed and name its mode in brackets.
        static func label(in bytes: ArraySlice<UInt8>) -> String? {
            let text = String(decoding: bytes.prefix { $0 != 0 && $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            guard text.hasSuffix(")"), let mode = text.range(of: " (", options: .backwards) else {
                return text.isEmpty ? nil : text
            }
            return text[mode.upperBound...] == "enforce)" ? String(text[..<mode.lowerBound]) : nil
        }

        /// Has the kernel say with every message which process wrote it; for a socket that listens, for all that connect.
        static func nameSenders(socket: Int32) -> Bool {
            var on: Int32 = 1
            return setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, socklen_t(MemoryLayout<Int32>.size)) == 0
        }

        /// Whether the kernel says so.
        static func namesSenders(socket: Int32) -> Bool {
            var on: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            return getsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, &size) == 0 && on != 0
        }

        /// The process that wrote what is read next; nil where nothing is there, or it does not say. What two processes wrote is
        /// never read at once.
        static func sender(socket: Int32) -> Int32? {
            var byte: UInt8 = 0
            // Room for the credentials and for nothing else: descriptors that come along are dropped.
            let size = MemoryLayout<cmsghdr>.stride + 16
            return withUnsafeTemporaryAllocation(byteCount: size, alignment: MemoryLayout<Int>.alignment) { control in
                withUnsafeMutablePointer(to: &byte) { byte in
                    var part = iovec(iov_base: byte, iov_len: 1)
                    return withUnsafeMutablePointer(to: &part) { part -> Int32? in
                        var message = msghdr()
                        message.msg_iov = part
                        message.msg_iovlen = 1
                        message.msg_control = control.baseAddress
                        message.msg_controllen = .init(size)
                        let flags = Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)
                        guard recvmsg(socket, &message, flags) == 1, Int(message.msg_controllen) <= size,
                            Int(message.msg_controllen)
                                >= MemoryLayout<cmsghdr>.size + credentialsSize
                        else { return nil }
                        let head = control.load(as: cmsghdr.self)
                        guard head.cmsg_level == SOL_SOCKET, head.cmsg_type == credentials else { return nil }
                        let process = control.load(fromByteOffset: MemoryLayout<cmsghdr>.size, as: Int32.self)
                        return process > 0 ? process : nil
                    }
                }
            }
        }

        /// Whether the process belongs to the broker's own namespaces of processes and of users.
        ///
        /// In a namespace of processes it could give itself out as any process of it when it sends. In one of users, which any user may
        /// make, it mounts what it likes where a program looks for its libraries, and may have the kernel name another file than the
        /// one that it runs (`PR_SET_MM_MAP`).
        static func sharesNamespaces(_ process: Int32) -> Bool {
            ["pid", "user"].allSatisfy { kind in
                guard let own = namespace(kind, of: "self") else { return false }
                return namespace(kind, of: "\(process)") == own
            }
        }

        private static func namespace(_ kind: String, of process: String) -> [CChar]? {
            var name = [CChar](repeating: 0, count: 64)
            let count = readlink("/proc/\(process)/ns/\(kind)", &name, name.count)
            return count > 0 && count < name.count ? name : nil
        }

        /// A descriptor of the very process that connected, which no later process can stand in for; nil where the
        /// kernel is too old. The caller closes it.
        static func processDescriptor(socket: Int32) -> Int32? {
            var descriptor: Int32 = -1
            var size = socklen_t(MemoryLayout<Int32>.size)
            guard getsockopt(socket, SOL_SOCKET, peerProcessDescriptor, &descriptor, &size) == 0, descriptor >= 0 else {
                return nil
            }
            return descriptor
        }
    #else
        /// Apple platforms identify callers by audit token and code signature, in the extension; not here.
        static func groups(socket: Int32) -> Set<UInt32>? { nil }
        static func label(socket: Int32) -> String? { nil }
        static func nameSenders(socket: Int32) -> Bool { false }
        static func sender(socket: Int32) -> Int32? { nil }
        static func sharesNamespaces(_ process: Int32) -> Bool { false }
        static func processDescriptor(socket: Int32) -> Int32? { nil }
    #endif
}
