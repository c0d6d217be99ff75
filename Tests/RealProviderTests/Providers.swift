import CordonDemo
import Foundation
import Testing

/// The OpenID providers that `Tests/Providers/install.sh` installs.
enum Providers {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    static let python = root.appending(path: ".build/providers/bin/python")
    static let django = root.appending(path: ".build/providers/bin/django-admin")
    static let areInstalled =
        [python.path, "/usr/bin/chromium", "/usr/bin/chromedriver"].allSatisfy(
            FileManager.default.isExecutableFile(atPath:))
    static let needs: Comment = "needs the providers and the browser of Tests/Providers/install.sh"

    static func script(_ name: String) -> URL { root.appending(path: "Tests/Providers/\(name)") }

    static func password(of user: String) -> String { "correct horse \(user)" }

    /// Ports without a listener now; the provider has to know the app's beforehand.
    static func freePorts(_ count: Int) throws -> [UInt16] {
        let sockets = (0..<count).map { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
        defer { for socket in sockets { close(socket) } }
        return try sockets.map { socket in
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(socket, $0, size) == 0 && getsockname(socket, $0, &size) == 0
                }
            }
            try #require(isBound)
            return UInt16(bigEndian: address.sin_port)
        }
    }
}
