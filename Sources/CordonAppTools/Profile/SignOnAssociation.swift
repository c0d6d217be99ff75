public import Foundation

/// Whether a host lets a sign-on extension answer for it: a device asks the host's association file, and without that
/// consent it leaves the extension out and says nothing (SI-149).
public struct SignOnAssociation: Sendable, Hashable {
    /// The host of one of the profile's addresses.
    public let host: String
    /// The extension that wants to answer.
    public let extensionIdentifier: String
    /// The team of its maker; nil where the profile names none, as on iOS.
    public let team: String?

    /// What a host said when it was asked.
    public enum Answer: Sendable, Equatable {
        /// The file.
        case file(Data)
        /// Another status than 200; a redirect counts as none.
        case status(Int)
        /// Nothing, and why.
        case none(String)
    }

    /// The largest file that devices take, in bytes.
    public static let largestFile = 128 << 10

    /// One association for each host of a profile's redirect extensions, in the profile's order.
    public static func wanted(by profile: PropertyListValue) -> [SignOnAssociation] {
        var wanted: [SignOnAssociation] = []
        for payload in profile["PayloadContent"]?.array ?? [] {
            guard payload["PayloadType"]?.string == "com.apple.extensiblesso", payload["Type"]?.string == "Redirect",
                let identifier = payload["ExtensionIdentifier"]?.string
            else { continue }
            for url in payload["URLs"]?.strings ?? [] {
                guard let host = URLComponents(string: url)?.host?.lowercased(), !host.isEmpty else { continue }
                let association = SignOnAssociation(
                    host: host, extensionIdentifier: identifier, team: payload["TeamIdentifier"]?.string)
                if !wanted.contains(association) { wanted.append(association) }
            }
        }
        return wanted
    }

    /// Where the host's file lies; nil for a host that no address can have.
    public var address: URL? { URL(string: "https://\(host)/.well-known/apple-app-site-association") }

    /// What is wrong with the host's answer; empty where the extension may answer for it.
    public func findings(_ answer: Answer, path: String) -> [Finding] {
        guard let problem = problem(with: answer) else { return [] }
        return [Finding(path, .error, "MC-HOST", "\(host): \(problem)")]
    }

    private func problem(with answer: Answer) -> String? {
        let file: Data
        switch answer {
        case .none(let reason): return "gives no association file: \(reason)"
        case .status(300..<400): return "sends on to another address, which devices do not follow"
        case .status(let status): return "answers \(status) instead of its association file"
        case .file(let bytes): file = bytes
        }
        guard let document = try? JSONDecoder().decode(Document.self, from: file) else {
            return "its association file is not JSON in the form of one"
        }
        guard let apps = document.authsrv?.apps, !apps.isEmpty else {
            return "its association file names no app that may sign people in (authsrv)"
        }
        return apps.contains(where: isThis)
            ? nil
            : "its association file does not name \(team.map { $0 + "." } ?? "")\(extensionIdentifier) or its app"
    }

    private struct Document: Decodable {
        struct Service: Decodable { var apps: [String]? }
        var authsrv: Service?
    }

    /// Whether an application identifier, the team and then the bundle, is the extension's or its app's.
    private func isThis(_ application: String) -> Bool {
        let parts = application.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2, team == nil || team == parts[0] else { return false }
        return extensionIdentifier == parts[1] || extensionIdentifier.hasPrefix(parts[1] + ".")
    }
}
