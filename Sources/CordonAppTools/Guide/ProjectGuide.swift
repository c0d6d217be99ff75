internal import CordonBase
import Foundation

/// The steps that a project's build needs, from its files.
struct ProjectGuide {
    let url: URL
    let commands: CommandLines

    private static let foreign: Set<String> = [
        "Pods", "Carthage", "DerivedData", "build", "node_modules", "xcframework", "framework", "xcodeproj",
        "xcworkspace", "app", "appex",
    ]

    /// The property lists and entitlements of a project, relative to it.
    private struct Files {
        var apps: [String] = []
        var extensions: [String] = []
        var entitlements: [String] = []
        var hasProject = false
    }

    func steps() throws(AppToolsError) -> [AppGuide.Step] {
        let files = files()
        guard files.hasProject || !files.apps.isEmpty else {
            throw AppToolsError(
                .unsupported, "is neither a bundle nor the folder of a project", at: url.path,
                hint: "give an .app, or the folder with the .xcodeproj, the Package.swift or the Info.plist")
        }
        var steps = [
            AppGuide.Step(
                title: "Add the framework to the app's target", state: .open,
                reason: "with Swift Package Manager, or as an .xcframework that is embedded and signed", commands: []),
            AppGuide.Step(
                title: "Guard the ways out of the sources", state: .open,
                reason: "Cordon hooks nothing: what the app does not ask about leaves unasked",
                commands: [commands.line("scan", url.path, named: false)]),
        ]
        for info in files.apps {
            let options = files.entitlements.first.map {
                "--entitlements \(CommandLines.quoted($0)) --write-entitlements"
            }
            steps.append(
                AppGuide.Step(
                    title: "Configure \(info)", state: .open,
                    reason: "before the build, once; a second run changes nothing",
                    commands: [commands.line("configure", info, options: options ?? "")]))
        }
        for info in files.extensions {
            steps.append(
                AppGuide.Step(
                    title: "Configure the extension of \(info)", state: .open,
                    reason: "its rule must name managed types",
                    commands: [commands.line("configure", info, options: "--containing-app APP-ID --activation-rule")]))
        }
        let built = "\"$TARGET_BUILD_DIR/$WRAPPER_NAME\""
        let names = commands.names == .cordon ? "" : " --names \(commands.names.name)"
        steps += [
            AppGuide.Step(
                title: "Add a run-script phase behind \"Embed Frameworks\"", state: .open,
                reason: "the build signs afterwards",
                commands: [
                    "cordon thin \(built) --keep device", "cordon patch --install \(built)\(names)",
                    "cordon doctor \(built)\(names)",
                ]),
            AppGuide.Step(
                title: "Check the archive", state: .open, reason: "what people install is what is checked",
                commands: ["cordon verify ARCHIVE.xcarchive", "cordon doctor ARCHIVE.xcarchive\(names)"]),
        ]
        return steps
    }

    private func files() -> Files {
        var files = Files()
        let keys: [URLResourceKey] = [.isDirectoryKey]
        let walk = FileManager.default.enumerator(
            at: url, includingPropertiesForKeys: keys, options: [.skipsHiddenFiles])
        let base = url.standardizedFileURL.path + "/"
        while let item = walk?.nextObject() as? URL {
            if ["xcodeproj", "xcworkspace"].contains(item.pathExtension) || item.lastPathComponent == "Package.swift" {
                files.hasProject = true
            }
            if Self.foreign.contains(item.lastPathComponent) || Self.foreign.contains(item.pathExtension) {
                walk?.skipDescendants()
                continue
            }
            let path = String(item.standardizedFileURL.path.dropFirst(base.count))
            if item.pathExtension == "entitlements" { files.entitlements.append(path) }
            guard InfoPropertyList.isNamed(item.lastPathComponent), let info = try? PropertyList(contentsOf: item).value
            else { continue }
            if info["NSExtension"] != nil {
                files.extensions.append(path)
            } else if info["CFBundleIdentifier"] != nil || info["LSRequiresIPhoneOS"] != nil {
                files.apps.append(path)
            }
        }
        files.apps.sort()
        files.extensions.sort()
        files.entitlements.sort()
        return files
    }
}
