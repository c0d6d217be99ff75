import ArgumentParser
import CordonAppTools
import Foundation

/// `cordon guide`: says in order what to do with an app or a project, with the commands.
struct GuideCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "guide", abstract: "List what to do with an app or a project, step by step.",
        discussion: """
            Looks at a built app, or at the folder of a project before its first build. Nothing is written.

            Example: cordon guide Demo.app --names intune-compatible
            """)

    @Argument(help: "An .app, .appex, .framework, .xcarchive or .ipa, or the folder of a project.")
    var path: String

    @OptionGroup var names: NamesOption

    @Flag(help: "Print one JSON document.")
    var json = false

    func run() throws {
        let profile = try names.profile()
        let guides = try PackageArgument.parse([path]).open(json: json) { package in
            try reporting { () throws(AppToolsError) in
                var guides: [AppGuide] = []
                for bundle in package.bundles {
                    let shown = AppPackage.isArchive(URL(fileURLWithPath: path)) ? path : bundle.path
                    guides.append(try AppGuide(bundle, shownAs: shown, names: profile))
                }
                return guides
            }
        }
        if json { return try Terminal.json(guides.flatMap(\.steps)) }
        for (number, step) in guides.flatMap(\.steps).enumerated() {
            let mark =
                switch step.state {
                case .done: Style.green("done")
                case .open: Style.bold("to do")
                case .optional: Style.dim("optional")
                }
            Terminal.data("\(number + 1). \(step.title) (\(mark)): \(step.reason)")
            for command in step.commands { Terminal.data("     \(command)") }
        }
    }
}

/// `cordon wrap`: says why there is no wrapping, and what to do instead.
struct WrapCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wrap", abstract: "Explain why Cordon wraps no apps, and what to do instead.",
        discussion: """
            Cordon hooks nothing: an app asks before data leaves it. A wrapped app would not ask, and so would not be \
            protected, however it was signed.

            Example: cordon wrap Demo.ipa
            """)

    @Argument(parsing: .allUnrecognized, help: "Anything that the original tool takes.")
    var arguments: [String] = []

    func run() throws {
        throw CommandFailure(
            .badInput,
            "apps are not wrapped: nothing is hooked, so a wrapped app would look protected and leave its data open",
            hint: "cordon guide PATH says how an app guards itself; cordon scan SOURCES, what it leaves open")
    }
}
