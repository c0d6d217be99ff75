internal import CordonBase
internal import Foundation

extension BrokerConfiguration {
    /// What in the list of apps is allowed and yet worth a second look, a line each for the administrator who wrote it.
    public var warnings: [String] {
        apps.flatMap { app -> [String] in
            let name = ThrottledLog.plain(app.name)
            var found: [String] = []
            if app.isInterpreter {
                found.append(
                    "\(name): \(ThrottledLog.plain(app.path)) runs any script, so every script of the device's user passes"
                        + " for this app; list a program of the app's own")
            }
            if app.group == nil {
                found.append(
                    "\(name): without a group of its own the app is told by its program file, and a user who can start it can load"
                        + " code into it")
            }
            if app.group == nil, app.label != nil {
                found.append(
                    "\(name): a program of the device's user that nothing confines can put itself under the label where the system lets it;"
                        + " Ubuntu's setting against that is kernel.apparmor_restrict_unprivileged_unconfined")
            }
            if app.bundleID == nil {
                found.append("\(name): without a bundleID the app can have no wipe receipt signed")
            }
            if app.proofOrigins(service: service).isEmpty {
                found.append(
                    "\(name): without origins, and without the broker's service, the app can use no token that is bound"
                        + " to a key")
            }
            return found
        }
    }
}

extension AllowedApp {
    /// The origins that the app's proofs of possession may name.
    ///
    /// - Parameter service: The service that the device's apps check in with. The resource of its tokens is a name rather
    ///   than an address, so nothing in `resources` would say where they are used.
    func proofOrigins(service: URL?) -> Set<WebOrigin> {
        let addresses = origins ?? (resources ?? []) + [service?.absoluteString].compactMap { $0 }
        return Set(addresses.compactMap { WebOrigin($0) })
    }

    /// Whether the program does what a file of its user says, by the names that such programs usually have.
    var isInterpreter: Bool {
        let file = path.split(separator: "/").last?.lowercased() ?? ""
        // Versions stand at the end: python3.11, lua5.4, electron28.
        let name = String(file.prefix { $0.isLetter })
        return Self.interpreters.contains(name) || file.hasPrefix("ld-linux") || file.hasPrefix("ld-musl")
    }

    private static let interpreters: Set<String> = [
        "ash", "awk", "bash", "bun", "busybox", "csh", "dash", "deno", "dotnet", "electron", "env", "fish", "gawk",
        "gjs", "guile", "java", "ksh", "lua", "luajit", "mawk", "mono", "node", "nodejs", "perl", "php", "pwsh", "pypy",
        "python", "qemu", "rscript", "ruby", "sh", "tclsh", "tcsh", "toybox", "wish", "zsh",
    ]
}
