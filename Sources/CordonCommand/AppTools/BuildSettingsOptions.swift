import ArgumentParser
import CordonAppTools
import Foundation

/// The values of build variables that several tools take.
struct BuildSettingsOptions: ParsableArguments {
    @Option(name: [.customLong("setting"), .customLong("define")], help: "A build setting, NAME=VALUE. May repeat.")
    var defines: [String] = []

    @Option(help: "An .xcconfig file with build settings. May repeat; a later one goes before an earlier one.")
    var xcconfig: [String] = []

    /// All of them; what is given by name goes before the files.
    func values() throws -> [String: String] {
        var values: [String: String] = [:]
        for file in xcconfig {
            let settings = try reporting { () throws(AppToolsError) in
                try BuildSettingsFile(contentsOf: URL(fileURLWithPath: file)).settings
            }
            values.merge(settings) { $1 }
        }
        return values.merging(try NameAndValue.dictionary(defines)) { $1 }
    }
}
