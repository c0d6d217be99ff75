import CordonServiceHTTP
import Foundation
import HTTPTypes
import Hummingbird

/// The console's cookies. Over HTTPS their names begin with `__Host-`, so that no other host or path can set them; over plain HTTP,
/// which the service serves on loopback alone, browsers refuse such names.
struct ConsoleCookies: Sendable {
    let isSecure: Bool

    enum Name: String {
        case session = "cordon-console"
        case signIn = "cordon-console-sign-in"
    }

    /// The most sign-ins of one browser under way at once.
    private static let mostSignIns = 8

    private func name(_ name: Name, _ state: String) -> String {
        // One for each sign-in under way, so that two tabs do not end each other's.
        let ending = state.isEmpty ? "" : "-\(state.prefix(16))"
        return "\(isSecure ? "__Host-" : "")\(name.rawValue)\(ending)"
    }

    /// The value of a cookie; nil where it is missing or was sent twice, as by an attacker who plants one.
    ///
    /// - Parameter state: Of which sign-in the cookie is.
    func value(_ name: Name, state: String = "", of request: Request) -> String? {
        let wanted = self.name(name, state)
        let values = Self.pairs(of: request).compactMap { $0.name == wanted ? $0.value : nil }
        return values.count == 1 ? values[0] : nil
    }

    /// Sets a cookie until the browser is closed.
    func setting(_ name: Name, _ value: String, state: String = "") -> String {
        "\(self.name(name, state))=\(value); Path=/; HttpOnly; SameSite=Lax\(isSecure ? "; Secure" : "")"
    }

    func removing(_ name: Name, state: String = "") -> String { setting(name, "", state: state) + "; Max-Age=0" }

    /// Removes the cookies of sign-ins that were begun and not ended, once there are many.
    func removingSignIns(of request: Request) -> [String] {
        let prefix = name(.signIn, "") + "-"
        let states = Self.pairs(of: request).filter { $0.name.hasPrefix(prefix) }.map {
            $0.name.dropFirst(prefix.count)
        }
        guard states.count >= Self.mostSignIns else { return [] }
        return Set(states).sorted().map { removing(.signIn, state: String($0)) }
    }

    private static func pairs(of request: Request) -> [(name: String, value: String)] {
        request.headers[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair in
            let halves = pair.split(separator: "=", maxSplits: 1)
            guard halves.count == 2 else { return nil }
            return (
                halves[0].trimmingCharacters(in: .whitespaces), halves[1].trimmingCharacters(in: .whitespaces)
            )
        }
    }
}
