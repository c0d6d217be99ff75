import CordonTestSupport
import Foundation
import Testing

/// Programs that a test runs as a user who owns nothing here and is no administrator.
enum OtherUser {
    static let id: UInt32 = 65_534

    private static let change = ["--reuid=\(id)", "--regid=\(id)", "--clear-groups"]
    private static let setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// Whether this test may become that user, and that user may mount in a namespace of their own.
    static let hasNamespaces: Bool = {
        guard geteuid() == 0, let setpriv, FileManager.default.isExecutableFile(atPath: "/usr/bin/python3") else {
            return false
        }
        let mount = ["unshare", "-Urm", "mount", "--bind", "/usr/bin/true", "/usr/bin/false"]
        return (try? Program.run(setpriv, change + mount).status) == 0
    }()

    /// What runs a program as that user.
    static func command(_ arguments: [String]) throws -> [String] { [try #require(setpriv)] + change + arguments }

    /// Runs a program as that user; everything that it wrote.
    static func run(_ arguments: [String]) async throws -> String {
        try await Program.run(try #require(setpriv), change + arguments).everything
    }
}
