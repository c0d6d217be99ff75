import ArgumentParser
import CordonAppTools
import Foundation

/// `cordon icons`: makes the template icons of an Open-In extension.
struct IconsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "icons", abstract: "Make the icons of an Open-In extension from an app's own icon.",
        discussion: """
            Writes template images in the sizes extensions need, and CFBundleIcons.plist to merge into its Info.plist.

            Example: cordon icons Demo.app --output OpenIn
            """)

    @OptionGroup var package: PackageArgument

    @Option(name: [.customShort("o"), .long], help: "The folder for the icons.")
    var output: String

    @Option(help: "A PNG to use instead of the app's icon.")
    var icon: String?

    @Option(help: "Name a system symbol instead of making images.")
    var symbol: String?

    @Flag(help: "Only report what would change; status 1 when something would.")
    var check = false

    @Flag(help: "Print one JSON document.")
    var json = false

    func run() throws {
        let folder = URL(fileURLWithPath: output)
        let icons = try package.open(json: json) { package in
            try reporting { () throws(AppToolsError) -> OpenInIcons in
                if let symbol { return OpenInIcons(symbol: symbol, output: folder) }
                return try OpenInIcons(
                    app: package.app(), output: folder, icon: icon.map { URL(fileURLWithPath: $0) })
            }
        }
        var report = ToolReport()
        try apply(icons.changes, to: &report, isCheck: check, json: json)
    }
}
