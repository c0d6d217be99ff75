import ArgumentParser
import Foundation

/// `cordon aliases`: makes the names under which old build scripts start this program.
struct AliasesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "aliases",
        abstract: "Create the names by which scripts for the original tools start this program.",
        discussion: """
            Started by these names, the program takes the original tools' flags; -h lists them.

            Example: cordon aliases /usr/local/bin
            """)

    @Argument(help: "The folder for the names.", completion: .directory)
    var folder: String

    @Flag(help: "Remove the names instead.")
    var remove = false

    func run() throws {
        guard let program = Bundle.main.executableURL?.resolvingSymlinksInPath() else {
            throw CommandFailure(.writeFailed, "this program's own place is not known")
        }
        for name in LegacyAlias.names {
            let place = URL(fileURLWithPath: folder).appendingPathComponent(name)
            let present = try? FileManager.default.destinationOfSymbolicLink(atPath: place.path)
            guard present == program.path || present == nil && !FileManager.default.fileExists(atPath: place.path)
            else {
                throw CommandFailure(.refused, "\(place.path): something else is there", hint: "remove it first")
            }
            do {
                switch (remove, present) {
                case (true, .some): try FileManager.default.removeItem(at: place)
                case (false, nil): try FileManager.default.createSymbolicLink(at: place, withDestinationURL: program)
                default: continue
                }
            } catch {
                throw CommandFailure(
                    .writeFailed, "\(place.path): cannot be \(remove ? "removed" : "made")",
                    hint: "name a folder that is there and that you may write to")
            }
            Terminal.data(place.path)
        }
    }
}
