internal import CordonIdentity
internal import CordonPolicy
internal import Foundation

/// Reads the files that the policy commands name; every failure is a `CommandFailure` with the file's name.
enum PolicyFiles {
    /// The bytes of a file; `-` is standard input.
    static func data(_ path: String) throws -> Data {
        if path == "-" { return try StandardInput.read() }
        do {
            return try Data(contentsOf: URL(fileURLWithPath: path))
        } catch CocoaError.fileReadNoSuchFile {
            throw CommandFailure(.badInput, "\(path): there is no such file", hint: "Check the path.")
        } catch {
            throw CommandFailure(.badInput, "\(path): cannot be read", hint: "Check the path and its permissions.")
        }
    }

    /// The JSON of a file.
    static func json(_ path: String) throws -> JSONValue {
        let data = try data(path)
        return try named(path) { () throws(PolicyError) -> JSONValue in try JSONValue(parsing: data) }
    }

    /// The policy in a file.
    static func policy(_ path: String) throws -> AppProtectionPolicy {
        try policy(from: json(path), in: path)
    }

    /// The policy that a document of a file is. What in it is misspelt is told, as it is without effect.
    static func policy(from document: JSONValue, in path: String) throws -> AppProtectionPolicy {
        try checkShape(of: document, in: path)
        let policy = try named(path) { () throws(PolicyError) -> AppProtectionPolicy in
            try AppProtectionPolicy(graphJSON: document)
        }
        for finding in PolicyLint.findings(in: policy) where finding.code.hasPrefix("unknown-") {
            Terminal.talk("\(path): \(finding.severity.rawValue): \(finding.setting) \(finding.message)")
        }
        return policy
    }

    /// Refuses a dictionary that is no policy: read as one, it would have every default and so allow nearly everything.
    static func checkShape(of document: JSONValue, in path: String) throws {
        guard let members = document.object, !members.isEmpty else { return }
        let type = members["@odata.type"]?.string?.lowercased()
        guard type?.contains("managedapp") ?? true,
            members.keys.contains(where: { !$0.contains("@") && AppProtectionPolicy.isMember($0) })
        else {
            throw CommandFailure(
                .badInput, "\(path): no member of it is one of a policy",
                hint: "A policy is one object, a list of them, or a list named \"value\", with Graph's names.")
        }
    }

    /// The JSON of each policy in a file; see ``policies(_:)``.
    static func documents(_ path: String) throws -> [JSONValue] {
        let json = try json(path)
        return json.array ?? json["value"]?.array ?? [json]
    }

    /// The policies in a file: one, a list, or the `value` list of a Graph response.
    static func policies(_ path: String) throws -> [AppProtectionPolicy] {
        try documents(path).map { try policy(from: $0, in: path) }
    }

    /// The policies of `--policy` options: `ACCOUNT=FILE`, or a bare FILE for every managed account that none names
    /// (decision 0037).
    ///
    /// Several files for one account are merged, the most restrictive winning.
    /// A configuration is given in the same two ways; one that is given for an account bears on that account alone.
    static func set(_ options: [String], configurations: [String] = []) throws -> PolicySet {
        var named: [AccountID: [AppProtectionPolicy]] = [:]
        var shared: [AppProtectionPolicy] = []
        for option in options {
            if let (account, path) = split(option) {
                named[account, default: []] += try policies(path)
            } else {
                shared += try policies(option)
            }
        }
        var configured: [AccountID: [TargetedAppConfiguration]] = [:]
        var forEveryone: [TargetedAppConfiguration] = []
        for option in configurations {
            if let (account, path) = split(option) {
                configured[account, default: []].append(try configuration(path))
            } else {
                forEveryone.append(try configuration(option))
            }
        }
        return PolicySet(
            named.compactMapValues { EffectivePolicy.merging($0) },
            everyManagedAccount: EffectivePolicy.merging(shared),
            configurations: configured.mapValues { AppConfiguration($0) },
            everyConfiguration: AppConfiguration(forEveryone))
    }

    /// Each policy of `--policy` options by itself, with its file.
    static func each(_ options: [String]) throws -> [(file: String, policy: AppProtectionPolicy)] {
        try options.flatMap { option in
            let path = split(option)?.1 ?? option
            return path == "-" ? [] : try policies(path).map { (path, $0) }
        }
    }

    /// The app configuration in a file.
    private static func configuration(_ path: String) throws -> TargetedAppConfiguration {
        let json = try json(path)
        guard json["customSettings"]?.array != nil else {
            throw CommandFailure(
                .badInput, "\(path): an app configuration has a list \"customSettings\"",
                hint: "Write each key as {\"name\": KEY, \"value\": VALUE} in that list.")
        }
        return try named(path) { () throws(PolicyError) -> TargetedAppConfiguration in
            try TargetedAppConfiguration(graphJSON: json)
        }
    }

    /// `ACCOUNT=FILE` in its two parts; nil for a bare path. A path may hold `=` after a slash.
    private static func split(_ option: String) -> (AccountID, String)? {
        guard let sign = option.firstIndex(of: "="), sign != option.startIndex,
            !option[..<sign].contains("/"), !FileManager.default.fileExists(atPath: option)
        else { return nil }
        return (AccountID(String(option[..<sign])), String(option[option.index(after: sign)...]))
    }

    /// Runs a reading step and puts the file's name before its error.
    static func named<Value>(_ path: String, _ body: () throws(PolicyError) -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            throw CommandFailure(.badInput, "\(path): \(error.description)", hint: error.hint)
        }
    }
}
