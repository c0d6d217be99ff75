public import Foundation

/// Checks profiles against what Apple publishes of their keys (TL-MC-02, TL-MC-05).
public enum ProfileLint {
    private enum Kind: String {
        case text, number, boolean, texts, dictionary, list
    }

    private struct Rule {
        let kind: Kind
        var isRequired = false
        var values: [String] = []
    }

    private static let common: [String: Rule] = [
        "PayloadType": Rule(kind: .text, isRequired: true), "PayloadVersion": Rule(kind: .number, isRequired: true),
        "PayloadIdentifier": Rule(kind: .text, isRequired: true), "PayloadUUID": Rule(kind: .text, isRequired: true),
        "PayloadDisplayName": Rule(kind: .text), "PayloadDescription": Rule(kind: .text),
        "PayloadOrganization": Rule(kind: .text),
    ]
    private static let top: [String: Rule] = common.merging([
        "PayloadContent": Rule(kind: .list, isRequired: true), "PayloadRemovalDisallowed": Rule(kind: .boolean),
        "PayloadScope": Rule(kind: .text, values: ["System", "User"]), "ConsentText": Rule(kind: .dictionary),
        "HasRemovalPasscode": Rule(kind: .boolean),
    ]) { _, new in new }
    private static let signOn: [String: Rule] = common.merging([
        "ExtensionIdentifier": Rule(kind: .text, isRequired: true), "TeamIdentifier": Rule(kind: .text),
        "Type": Rule(kind: .text, isRequired: true, values: ["Credential", "Redirect"]),
        "URLs": Rule(kind: .texts), "Hosts": Rule(kind: .texts), "Realm": Rule(kind: .text),
        "ExtensionData": Rule(kind: .dictionary), "DeniedBundleIdentifiers": Rule(kind: .texts),
        "ScreenLockedBehavior": Rule(kind: .text, values: ["Cancel", "DoNotHandle"]),
    ]) { _, new in new }

    /// Which system a profile is for: they differ in what must be there (SI-013).
    public enum Platform: String, Sendable, CaseIterable {
        /// iPhones and iPads.
        case iOS = "ios"
        /// Macs.
        case macOS = "macos"
    }

    /// Reads a profile: of a signed one the content, with what its signature says of that. Who signed it is not judged.
    ///
    /// - Parameter path: The file's name in the findings.
    /// - Throws: ``AppToolsError`` when it is neither a property list nor a signed one.
    public static func read(
        _ url: URL, path: String
    ) throws(AppToolsError) -> (profile: PropertyListValue, findings: [Finding]) {
        let data = try InputFile.map(url, limit: PropertyList.largestSize)
        return try naming(path) { () throws(AppToolsError) -> (profile: PropertyListValue, findings: [Finding]) in
            // What is signed begins with a sequence of ASN.1, and no property list does.
            guard data.first == 0x30 else { return (try PropertyList(reading: data).value, []) }
            let content = try CMSEnvelope.content(of: data)
            let finding =
                CMSEnvelope.isChanged(data)
                ? Finding(path, .error, "MC-SIGNED", "the content changed after it was signed, devices refuse it")
                : Finding(path, .note, "MC-SIGNED", "is signed; who signed it is not judged")
            return (try PropertyList(reading: content).value, [finding])
        }
    }

    /// What breaks the rules in a profile.
    public static func findings(
        _ profile: PropertyListValue, path: String, platform: Platform = .iOS
    ) -> [Finding] {
        guard let entries = profile.dictionary else {
            return [Finding(path, .error, "MC-FORM", "a profile is a dictionary")]
        }
        guard entries["PayloadContent"] != nil || entries["Entitlements"] == nil else {
            return [
                Finding(path, .error, "MC-FORM", "is a provisioning profile, which cordon verify compares with its app")
            ]
        }
        var found = check(entries, top, at: "the profile", path)
        if let type = entries["PayloadType"]?.string, type != "Configuration" {
            found.append(Finding(path, .error, "MC-TYPE", "PayloadType is \(type) and should be Configuration"))
        }
        var seen: Set<String> = []
        for payload in entries["PayloadContent"]?.array ?? [] {
            guard let payload = payload.dictionary else {
                found.append(Finding(path, .error, "MC-FORM", "a payload is a dictionary"))
                continue
            }
            let type = payload["PayloadType"]?.string ?? "a payload"
            if type == "com.apple.extensiblesso" {
                found += check(payload, signOn, at: type, path) + checkSignOn(payload, &seen, path)
                if platform == .macOS, payload["TeamIdentifier"] == nil {
                    let message = "TeamIdentifier is missing in \(type), which macOS needs"
                    found.append(Finding(path, .error, "MC-REQUIRED", message))
                }
            } else {
                let required = common.filter(\.value.isRequired)
                found += check(payload, required, at: type, path, knowsAll: false)
            }
        }
        return found
    }

    private static func check(
        _ entries: PropertyListDictionary, _ rules: [String: Rule], at place: String, _ path: String,
        knowsAll: Bool = true
    ) -> [Finding] {
        var found: [Finding] = []
        for (key, rule) in rules.sorted(by: { $0.key < $1.key }) where rule.isRequired && entries[key] == nil {
            found.append(Finding(path, .error, "MC-REQUIRED", "\(key) is missing in \(place)"))
        }
        for (key, value) in entries.entries {
            guard let rule = rules[key] else {
                if knowsAll { found.append(Finding(path, .note, "MC-UNKNOWN", "\(key) is not known in \(place)")) }
                continue
            }
            if !fits(value, rule.kind) {
                let message = "\(key) in \(place) is a \(value.kind) and should be a \(rule.kind.rawValue)"
                found.append(Finding(path, .error, "MC-VALUE", message))
            } else if let text = value.string, !rule.values.isEmpty, !rule.values.contains(text) {
                let message = "\(key) is \(text) and should be one of \(rule.values.joined(separator: ", "))"
                found.append(Finding(path, .error, "MC-VALUE", message))
            }
        }
        return found
    }

    private static func checkSignOn(
        _ payload: PropertyListDictionary, _ seen: inout Set<String>, _ path: String
    ) -> [Finding] {
        var found: [Finding] = []
        let isRedirect = payload["Type"]?.string == "Redirect"
        let urls = payload["URLs"]?.strings ?? []
        if isRedirect, urls.isEmpty {
            found.append(Finding(path, .error, "MC-URLS", "a redirect extension needs URLs"))
        }
        for key in ["Hosts", "Realm"] where isRedirect && payload[key] != nil {
            found.append(Finding(path, .warning, "MC-URLS", "\(key) is for credential extensions and ignored here"))
        }
        for url in urls {
            if let problem = problem(ofURL: url) {
                found.append(Finding(path, .error, "MC-URLS", "\(url): \(problem)"))
            }
            if !seen.insert(normal(url)).inserted {
                found.append(Finding(path, .error, "MC-URLS", "\(url) appears twice among all payloads"))
            }
        }
        let data = payload["ExtensionData"]?.dictionary ?? [:]
        return found + SignOnData.findings(data, type: payload["Type"]?.string, path: path)
    }

    /// The scheme and host compare without case.
    private static func normal(_ url: String) -> String {
        guard let host = url.firstRange(of: "://")?.upperBound else { return url }
        let end = url[host...].firstIndex(of: "/") ?? url.endIndex
        return url[..<end].lowercased() + url[end...]
    }

    static func problem(ofURL url: String) -> String? {
        let lower = url.lowercased()
        guard let scheme = ["https://", "http://"].first(where: lower.hasPrefix) else { return "is not http or https" }
        let rest = url.dropFirst(scheme.count)
        if rest.prefix(while: { $0 != "/" }).isEmpty { return "has no host" }
        if rest.contains("?") { return "has a query" }
        if rest.contains("#") { return "has a fragment" }
        return nil
    }

    private static func fits(_ value: PropertyListValue, _ kind: Kind) -> Bool {
        switch (kind, value) {
        case (.text, .string), (.number, .integer), (.boolean, .boolean), (.dictionary, .dictionary), (.list, .array):
            true
        case (.texts, .array(let values)): values.allSatisfy { $0.string != nil }
        default: false
        }
    }
}
