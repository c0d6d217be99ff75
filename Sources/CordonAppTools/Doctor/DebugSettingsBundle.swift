public import Foundation

/// The settings bundle by which debug builds try policies without a service (SDK-DB-01 to 21).
public struct DebugSettingsBundle: Sendable {
    private enum Control {
        case toggle, number
        case choice([String])
    }

    private static let controls: [(key: String, title: String, control: Control)] = [
        ("PINEnabled", "Require PIN", .toggle), ("PINMinLength", "PIN length", .number),
        ("PINNumRetry", "PIN attempts", .number), ("SimplePINAllowed", "Allow simple PIN", .toggle),
        ("TouchIDEnabled", "Allow Touch ID", .toggle), ("FaceIDEnabled", "Allow Face ID", .toggle),
        ("AppSharingFromLevel", "Accept data from", .choice(["No apps", "Managed apps", "All apps"])),
        ("AppSharingToLevel", "Send data to", .choice(["No apps", "Managed apps", "All apps"])),
        (
            "ClipboardSharingLevel", "Clipboard",
            .choice(["Blocked", "Managed apps", "Managed apps with paste in", "Any app"])
        ),
        ("FileSharingSaveAsDisabled", "Block save as", .toggle), ("PrintingBlocked", "Block printing", .toggle),
        ("ContactSyncDisabled", "Block contact sync", .toggle), ("DataBackupDisabled", "Block backup", .toggle),
        ("ManagedBrowserRequired", "Require managed browser", .toggle),
        ("ThirdPartyKeyboardsBlocked", "Block other keyboards", .toggle),
        ("NotificationRestriction", "Notifications", .choice(["Allow", "Block work data", "Block"])),
        ("AccessRecheckOnlineTimeout", "Recheck minutes online", .number),
        ("AccessRecheckOfflineTimeout", "Recheck minutes offline", .number),
    ]

    private let url: URL
    private let names: NamingProfile

    /// Works on a `Settings.bundle` folder, which may not exist yet.
    public init(_ url: URL, names: NamingProfile) {
        self.url = url
        self.names = names
    }

    private var root: URL { url.appendingPathComponent("Root.plist") }
    private var pane: URL { url.appendingPathComponent(names.debugPane + ".plist") }

    private var link: PropertyListValue {
        .dictionary([
            "Type": .string("PSChildPaneSpecifier"), "Title": .string("MDM Debug Settings"),
            "Key": .string(names.debugPane), "File": .string(names.debugPane),
        ])
    }

    /// Plans the bundle: the link is added to a `Root.plist` that is there, and a pane that is there is kept.
    /// - Throws: ``AppToolsError`` when the present `Root.plist` is not a settings page.
    public func changes() throws(AppToolsError) -> [FileChange] {
        var changes: [FileChange] = []
        let empty = XMLPropertyListWriter().document(.dictionary(["PreferenceSpecifiers": .array([])]))
        let present = InputFile.kind(of: root).exists ? try InputFile.map(root) : empty
        var editor = try naming(root.path) { () throws(AppToolsError) in try PropertyListEditor(reading: present) }
        if editor.value["PreferenceSpecifiers"] == nil { try editor.set(.array([]), at: ["PreferenceSpecifiers"]) }
        if !isLinked(editor.value) { try editor.append(link, to: ["PreferenceSpecifiers"]) }
        let boundary = WriteBoundary(folder: url)
        changes.append(FileChange(root, editor.data, inside: boundary))
        if !InputFile.kind(of: pane).exists {
            let specifiers = Self.controls.map { Self.specifier($0.key, $0.title, $0.control) }
            changes.append(
                FileChange(
                    pane, XMLPropertyListWriter().document(.dictionary(["PreferenceSpecifiers": .array(specifiers)])),
                    inside: boundary))
        }
        return changes
    }

    /// What is wrong with the bundle as it stands.
    /// - Throws: ``AppToolsError`` when a page cannot be read.
    public func findings() throws(AppToolsError) -> [Finding] {
        var found: [Finding] = []
        if !isLinked(try PropertyList(contentsOf: root).value) {
            found.append(Finding(root.path, .error, "DB-LINK", "does not lead to the pane \(names.debugPane)"))
        }
        guard InputFile.kind(of: pane).exists else {
            return found + [Finding(pane.path, .error, "DB-PANE", "does not exist, debug builds would show nothing")]
        }
        let known = Set(Self.controls.map(\.key))
        for specifier in try PropertyList(contentsOf: pane).value["PreferenceSpecifiers"]?.array ?? [] {
            guard let key = specifier["Key"]?.string, !known.contains(key) else { continue }
            found.append(Finding(pane.path, .note, "DB-KEY", "\(key) is not among the common policy keys"))
        }
        return found
    }

    private func isLinked(_ value: PropertyListValue) -> Bool {
        (value["PreferenceSpecifiers"]?.array ?? []).contains {
            $0["Type"]?.string == "PSChildPaneSpecifier" && $0["File"]?.string == names.debugPane
        }
    }

    private static func specifier(_ key: String, _ title: String, _ control: Control) -> PropertyListValue {
        var entries: PropertyListDictionary = ["Key": .string(key), "Title": .string(title)]
        switch control {
        case .toggle:
            entries["Type"] = .string("PSToggleSwitchSpecifier")
            entries["DefaultValue"] = .boolean(false)
        case .number:
            entries["Type"] = .string("PSTextFieldSpecifier")
            entries["KeyboardType"] = .string("NumberPad")
        case .choice(let titles):
            entries["Type"] = .string("PSMultiValueSpecifier")
            entries["Titles"] = .array(titles.map { .string($0) })
            entries["Values"] = .array(titles.indices.map { .integer(Int64($0)) })
            entries["DefaultValue"] = .integer(Int64(titles.count - 1))
        }
        return .dictionary(entries)
    }
}
