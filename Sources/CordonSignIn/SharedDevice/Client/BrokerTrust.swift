internal import CordonBase
internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

#if canImport(CoreFoundation)
    internal import CoreFoundation
#endif

#if canImport(CDispatch)
    internal import CDispatch
#endif

/// Whose broker an app believes: its page takes a password, and data is sealed under the key that it gives.
package enum BrokerTrust: Sendable {
    /// The device's: it runs as root, or as a user of its own to whom root gave the socket's folder.
    case device
    /// For development, that of the app's own user as well.
    case development

    /// Refuses a broker that any user could have started at the path.
    ///
    /// - Parameter user: Who listens, as the kernel says; nil where it does not.
    /// - Throws: ``SignInError`` with code `brokerUnavailable`.
    func check(_ user: UInt32?, at path: String, own: UInt32 = geteuid()) throws(SignInError) {
        guard let user else { throw Self.refusal("the system does not say whose broker answers") }
        if user == 0 { return }
        if user == own {
            if self == .development { return }
            throw Self.refusal("the broker that answers runs as this app's own user, as any program of that user could")
        }
        guard Self.isGiven(path, to: user) else {
            throw Self.refusal(
                "the broker's folder is not one that the system's administrator gave to the broker's user")
        }
    }

    private static func refusal(_ reason: String) -> SignInError {
        SignInError(
            .brokerUnavailable, .brokerUntrusted, reason,
            hint: "Run the broker as root or as a user of its own, in a folder that root made; for development, say so."
        )
    }

    /// Whether the folder of a socket is the user's own or root's, no other user may write to it, and root alone decides where
    /// it lies.
    private static func isGiven(_ path: String, to user: UInt32) -> Bool {
        guard let real = realpath(URL(filePath: path).deletingLastPathComponent().path, nil) else { return false }
        defer { free(real) }
        var place = String(cString: real)
        var isFolder = true
        while true {
            var facts = stat()
            guard lstat(place, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR, facts.st_mode & 0o022 == 0,
                facts.st_uid == 0 || (isFolder && facts.st_uid == user)
            else { return false }
            if place == "/" { return true }
            isFolder = false
            let above = place.pathSteps.dropLast().joined(separator: "/")
            place = above.isEmpty ? "/" : above
        }
    }
}
