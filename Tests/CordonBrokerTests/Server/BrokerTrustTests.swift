import CordonBase
import CordonTestSupport
import CordonTesting
import Foundation
import Glibc
import Testing

@testable import CordonSignIn

#if canImport(CoreFoundation)
    import CoreFoundation
#endif
// On Linux the members of `stat` come with whichever of these the compiler met first.
#if canImport(CDispatch)
    import CDispatch
#endif

/// Whose broker an app believes before it sends a byte.
@Suite(
    .serialized, .timeLimit(.minutes(10)),
    .enabled(if: OtherUser.hasNamespaces, "needs root, setpriv, python3 and user namespaces")
) struct BrokerTrustTests {
    /// Listens, takes one connection and prints everything that is sent there.
    private static let script = """
        import os, socket, sys
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(sys.argv[1])
        os.chmod(sys.argv[1], 0o666)
        listener.listen(4)
        link = listener.accept()[0]
        print("heard", link.recv(100), flush=True)
        """

    /// A folder in the system's own place for such, with the owner and mode.
    private func folder(_ owner: uid_t, _ mode: mode_t = 0o755) throws -> String {
        let path = "/run/cordon-\(UUID().uuidString)"
        try #require(mkdir(path, 0o755) == 0 && chown(path, owner, owner) == 0 && chmod(path, mode) == 0)
        return path
    }

    private func refuses(_ user: uid_t?, _ path: String, own: uid_t = 1_000, _ trust: BrokerTrust = .device) -> Bool {
        do {
            try trust.check(user, at: path, own: own)
            return false
        } catch { return error.code == .brokerUnavailable && error.fault == .brokerUntrusted }
    }

    @Test func `a broker is root's, or another user's to whom root gave the folder, and for development the app's own`()
        throws
    {
        let given = try folder(900)
        defer { try? FileManager.default.removeItem(atPath: given) }
        let socket = given + "/broker.sock"
        #expect(!refuses(900, socket) && !refuses(0, socket))
        #expect(refuses(901, socket), "another user than the folder's")
        #expect(refuses(1_000, socket) && !refuses(1_000, socket, .development), "the app's own user")
        #expect(refuses(900, socket, own: 900), "even in a folder that root gave to it")
        #expect(refuses(nil, socket) && refuses(nil, socket, .development))
        try #require(chmod(given, 0o777) == 0)
        #expect(refuses(900, socket) && refuses(900, socket, .development), "any user may put a socket there")
        try #require(chmod(given, 0o755) == 0)
        // Below it the user decides what lies where, also where a name begins with an accent.
        for own in [given + "/own", given + "/\u{301}own"] {
            try #require(mkdir(own, 0o755) == 0 && chown(own, 900, 900) == 0)
            #expect(refuses(900, own + "/broker.sock"))
        }
        #expect(refuses(900, "/tmp/broker.sock") && refuses(900, "/nowhere/broker.sock"))
        let link = given + "/link"
        try #require(symlink("/tmp", link) == 0)
        #expect(refuses(900, link + "/broker.sock"), "a link is followed first")
    }

    @Test func `a path with a zero in it is no other socket's`() throws {
        let given = try folder(0)
        defer { try? FileManager.default.removeItem(atPath: given) }
        let listener = try Listener.make(given + "/b.sock")
        defer { close(listener) }
        #expect(BrokerSocket(path: given + "/b.sock", tick: .milliseconds(100)) != nil, "the control")
        #expect(BrokerSocket(path: given + "/b.sock\0.elsewhere", tick: .milliseconds(100)) == nil)
    }

    @Test func `a false broker of another user gets not one byte`() async throws {
        let place = try AllowedCopy()
        defer { place.remove() }
        let script = try place.write(Self.script, as: "listen.py")
        let open = place.folder.appending(path: "open").path
        try #require(mkdir(open, 0o777) == 0 && chmod(open, 0o777) == 0)
        let socket = open + "/broker.sock"
        let again = Task { try await OtherUser.run(["/usr/bin/python3", "-I", script, socket]) }
        try await until {
            var facts = stat()
            return lstat(socket, &facts) == 0 && facts.st_mode & 0o777 == 0o666
        }
        let app = try SharedDeviceMode(socket: socket, clientID: "notes", isDevelopment: true)
        var fault: SignInFault?
        // Where it does not listen yet, there is no broker.
        try await until {
            do throws(SignInError) { _ = try await app.currentAccount() } catch { fault = error.fault }
            return fault == .brokerUntrusted
        }
        #expect(try await again.value.contains("heard b''"))
    }
}
