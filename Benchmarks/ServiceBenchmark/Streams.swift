import CordonTesting
import Foundation
import Glibc

/// Open event streams, each a bare socket, so that the client costs nothing.
struct Streams {
    private let sockets: [Int32]

    /// How many streams the service keeps open for one registration.
    static let perDevice = 4

    /// Opens as many streams of each device as it may have; each request has a proof of its own.
    static func open(on devices: [SimulatedDevice], at base: URL) async throws -> Streams {
        var sockets: [Int32] = []
        for device in devices {
            for _ in 0..<perDevice {
                sockets.append(try connect(to: base.port ?? 80, sending: try await request(of: device, to: base)))
            }
        }
        return Streams(sockets: sockets)
    }

    /// What a device sends to open a stream.
    static func request(of device: SimulatedDevice, to base: URL) async throws -> String {
        let (path, fields) = try await device.eventStreamRequest()
        var text = "GET \(path) HTTP/1.1\r\nHost: \(base.host() ?? ""):\(base.port ?? 80)\r\n"
        for (name, value) in fields { text += "\(name): \(value)\r\n" }
        return text + "\r\n"
    }

    /// Waits until every stream has begun; how many answered 200.
    func begun() -> Int {
        sockets.count { socket in
            var buffer = [UInt8](repeating: 0, count: 512)
            let count = recv(socket, &buffer, buffer.count, 0)
            return count > 0 && String(decoding: buffer[..<count], as: UTF8.self).hasPrefix("HTTP/1.1 200")
        }
    }

    func close() { for socket in sockets { _ = Glibc.close(socket) } }

    private static func connect(to port: Int, sending text: String) throws -> Int32 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { throw POSIXError(.EMFILE) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw POSIXError(.ECONNREFUSED) }
        var bytes = Array(text.utf8)
        guard Glibc.send(socket, &bytes, bytes.count, 0) == bytes.count else { throw POSIXError(.EIO) }
        return socket
    }
}
