import CordonBase
import Foundation
import Glibc
import Testing

@testable import CordonBroker

/// Sockets that listen before there is a broker.
enum Listener {
    /// A socket as systemd makes it.
    static func make(_ path: String, listens: Bool = true, type: __socket_type = SOCK_STREAM) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(type.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        // As `PassCredentials=yes` has it.
        try #require(PeerCredentials.nameSenders(socket: descriptor))
        try #require(isBound && (!listens || listen(descriptor, 4) == 0))
        return descriptor
    }
}
