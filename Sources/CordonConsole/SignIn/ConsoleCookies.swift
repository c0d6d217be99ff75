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

    func name(_ name: Name) -> String { isSecure ? "__Host-" + name.rawValue : name.rawValue }

    /// The value of a cookie; nil where it is missing or was sent twice, as by an attacker who plants one.
    func value(_ name: Name, of request: Request) -> String? {
        let wanted = self.name(name)
        let values = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair in
            let halves = pair.split(separator: "=", maxSplits: 1)
            return halves.count == 2 && halves[0].trimmingCharacters(in: .whitespaces) == wanted
                ? halves[1].trimmingCharacters(in: .whitespaces) : nil
        }
        return values.count == 1 ? values[0] : nil
    }

    /// Sets a cookie until the browser is closed.
    func setting(_ name: Name, _ value: String) -> String {
        "\(self.name(name))=\(value); Path=/; HttpOnly; SameSite=Lax\(isSecure ? "; Secure" : "")"
    }

    func removing(_ name: Name) -> String { setting(name, "") + "; Max-Age=0" }
}
