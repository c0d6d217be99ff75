#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// What the kernel says of the other end of a Unix-domain socket, as it was when that connected or began to listen.
package struct PeerCredentials: Sendable, Equatable {
    /// The process; 0 for one that is not seen from this one's process namespace, and on Apple platforms, which do not say.
    package let process: Int32
    /// The user.
    package let user: UInt32
    /// The group in force; a program that is installed with a group of its own (setgid) has that one.
    package let group: UInt32

    /// Describes a peer.
    package init(process: Int32, user: UInt32, group: UInt32) {
        self.process = process
        self.user = user
        self.group = group
    }

    /// Asks the kernel; nil where it does not say.
    package init?(socket: Int32) {
        #if os(Linux)
            // `struct ucred`, which the system's module does not show to Swift: three 32-bit numbers.
            var found: (process: Int32, user: UInt32, group: UInt32) = (0, 0, 0)
            var size = socklen_t(MemoryLayout.size(ofValue: found))
            guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &found, &size) == 0,
                size == socklen_t(MemoryLayout.size(ofValue: found))
            else { return nil }
            self.init(process: found.process, user: found.user, group: found.group)
        #else
            var (user, group) = (uid_t(), gid_t())
            guard getpeereid(socket, &user, &group) == 0 else { return nil }
            self.init(process: 0, user: user, group: group)
        #endif
    }
}
