import ArgumentParser
import CordonAppTools
import Foundation

/// `cordon activation-rule`: rewrites an extension's activation rule, or makes one for Open-In.
struct ActivationRuleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "activation-rule", abstract: "Make an activation rule accept managed types.",
        discussion: """
            The input is an extension's Info.plist, or a text file that holds a rule ("-" reads standard input). The \
            rule is printed; --in-place writes it back into the Info.plist.

            Example: cordon activation-rule Share.appex/Info.plist --names intune-compatible
            """)

    @Argument(
        help:
            "An Info.plist, the .appex, .app, .xcarchive or .ipa that has it, a file with a rule, or - for standard input."
    )
    var input: String

    @OptionGroup var names: NamesOption

    @Flag(
        help: "Make the rule of an Open-In extension from the app's document types; the input is the app's Info.plist.")
    var openIn = false

    @Flag(help: "With --open-in, take common file extensions for their types.")
    var inferTypes = false

    @Option(help: "Layout: keep or canonical.")
    var style: Style = .keep

    enum Style: String, ExpressibleByArgument, CaseIterable {
        case keep
        case canonical
    }

    @Option(name: .customLong("type"), help: "Types for a constant, KEY=TYPE[,TYPE]. May repeat.")
    var types: [String] = []

    @Option(
        help: "Instead of printing the rule, evaluate it for shared items: a JSON array of {\"attachments\": [[TYPE]]}."
    )
    var evaluate: String?

    @Flag(help: "Write the rule back into the Info.plist.")
    var inPlace = false

    @Flag(help: "With --in-place, keep a dictionary of constants as a comment behind the rule made from it.")
    var keepComment = false

    @Flag(help: "With --in-place, only say whether it would change; status 1 when it would.")
    var check = false

    @Flag(help: "Print one JSON document.")
    var json = false

    func run() throws {
        let given = URL(fileURLWithPath: input)
        guard input != "-", AppPackage.isPackage(given) else { return try run(given, in: nil) }
        try PackageArgument.parse([input]).open(json: json) { package in
            try run(try infoFile(in: package), in: package)
        }
    }

    /// The property list of the app, or of its one extension with a rule.
    private func infoFile(in package: AppPackage) throws -> URL {
        try reporting { () throws(AppToolsError) in
            if openIn { return try package.app().appendingPathComponent("Info.plist") }
            let rules = try package.activationRules()
            guard let only = rules.first, rules.count == 1 else {
                throw AppToolsError(
                    .usage, rules.isEmpty ? "no extension has an activation rule" : "several extensions have a rule",
                    at: input, hint: rules.isEmpty ? nil : "give one: \(rules.map(\.path).joined(separator: ", "))")
            }
            return only
        }
    }

    private func run(_ file: URL, in package: AppPackage?) throws {
        let data = try content(of: file)
        let (rule, findings) = try reporting { () throws(AppToolsError) -> (ActivationRule, [Finding]) in
            do throws(AppToolsError) { return try readRule(data) } catch { throw error.inside(input) }
        }
        if let evaluate { return try show(rule, for: evaluate) }
        var report = ToolReport(findings: findings)
        guard inPlace else {
            if json { return try Terminal.json(["rule": rule.description]) }
            for finding in findings { Terminal.talk(finding.description) }
            return Terminal.data(lines: rule.description)
        }
        let edited = try reporting { () throws(AppToolsError) -> Data in
            var editor = try PropertyListEditor(reading: data)
            if keepComment, case .dictionary? = Self.present(in: editor.value) {
                try editor.keepAsComment(at: Self.path)
            }
            try editor.set(.string(rule.description), at: Self.path)
            return editor.data
        }
        try apply(
            [FileChange(file, edited, inside: WriteBoundary(of: file))], in: package, to: &report, isCheck: check,
            json: json)
    }

    private static let path: [PropertyListPath] = [
        "NSExtension", "NSExtensionAttributes", "NSExtensionActivationRule",
    ]

    private static func present(in info: PropertyListValue) -> PropertyListValue? {
        info["NSExtension"]?["NSExtensionAttributes"]?["NSExtensionActivationRule"]
    }

    private func content(of file: URL) throws -> Data {
        guard input == "-" else { return try reporting { () throws(AppToolsError) in try InputFile.map(file) } }
        guard !inPlace else { throw CommandFailure(.usage, "standard input cannot be written back") }
        return try StandardInput.read()
    }

    private func readRule(_ data: Data) throws(AppToolsError) -> (ActivationRule, [Finding]) {
        guard let profile = NamingProfile.named(names.names) else {
            throw AppToolsError(.usage, "no naming profile is called \(names.names)")
        }
        let layout: ActivationRule.Style = style == .keep ? .keep : .canonical
        func notes(_ texts: [String]) -> [Finding] { texts.map { Finding(input, .note, "AR-NOTE", $0) } }
        let head = data.prefix(64).drop { $0 <= 0x20 || $0 >= 0xEF }
        guard head.first == UInt8(ascii: "<") || data.starts(with: Data("bplist".utf8)) else {
            return try rewritten(ActivationRule(Self.trimmed(data)), profile, layout)
        }
        let info = try PropertyList(reading: data).value
        if openIn {
            let made = try OpenInRule(app: info, names: profile, infersTypes: inferTypes)
            return (made.rule, notes(made.notes))
        }
        switch Self.present(in: info) {
        case .string(let text)?:
            return try rewritten(ActivationRule(text), profile, layout)
        case .dictionary(let constants)?:
            let made = try ActivationConstants(constants, types: overrides()).conversion(profile)
            return (made.rule, notes(made.notes))
        default: throw AppToolsError(.malformed, "has no NSExtensionActivationRule")
        }
    }

    private func rewritten(
        _ rule: ActivationRule, _ names: NamingProfile, _ layout: ActivationRule.Style
    ) throws(AppToolsError) -> (ActivationRule, [Finding]) {
        var findings = try rule.managedTypeFindings(names, path: input)
        if rule.acceptsEverything {
            let warning = "TRUEPREDICATE is for development, the store refuses it"
            findings.append(Finding(input, .warning, "AR-TRUE", warning))
        }
        return (try rule.addingManagedTypes(names, style: layout), findings)
    }

    private func overrides() throws(AppToolsError) -> [String: [String]] {
        var result: [String: [String]] = [:]
        for type in types {
            let parts = type.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { throw AppToolsError(.usage, "\"\(type)\" is not KEY=TYPE") }
            result[String(parts[0])] = parts[1].split(separator: ",").map(String.init)
        }
        return result
    }

    private static func trimmed(_ data: Data) -> String {
        String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func show(_ rule: ActivationRule, for file: String) throws {
        let data = try reporting { () throws(AppToolsError) in try InputFile.map(URL(fileURLWithPath: file)) }
        guard let items = try? JSONDecoder().decode([SharedItem].self, from: data) else {
            throw CommandFailure(.badInput, "\(file): is not a JSON array of items with attachments")
        }
        let accepts = try reporting { () throws(AppToolsError) in try rule.accepts(items) }
        if json { try Terminal.json(["accepts": accepts]) } else { Terminal.data(accepts ? "offered" : "not offered") }
        if !accepts { throw CommandFailure(.notInWantedState, "the extension would not be offered") }
    }
}
