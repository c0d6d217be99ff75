public import Foundation

/// What to do with an app or a project, in order, with the commands to do it.
public struct AppGuide: Sendable, Encodable {
    /// One thing to do.
    public struct Step: Sendable, Encodable, Hashable {
        /// Whether a step is behind a person.
        public enum State: String, Sendable, Encodable {
            /// Nothing is left to do.
            case done
            /// Something is missing.
            case open
            /// Worth doing in some apps.
            case optional
        }

        /// What the step is, a few words.
        public let title: String
        /// Whether it is done.
        public let state: State
        /// What was found, or why the step is there.
        public let reason: String
        /// The command lines that do it.
        public let commands: [String]
    }

    /// The steps in the order to take them.
    public let steps: [Step]

    /// Whether nothing is left to do.
    public var isDone: Bool { !steps.contains { $0.state == .open } }

    /// Looks at a built app or at the folder of a project.
    ///
    /// - Parameters:
    ///   - url: The bundle or the folder.
    ///   - shownAs: The path that the commands name, for what was unpacked from an archive.
    ///   - names: Whose names to use.
    /// - Throws: ``AppToolsError`` when it is neither, or cannot be read.
    public init(_ url: URL, shownAs path: String? = nil, names: NamingProfile) throws(AppToolsError) {
        let maker = CommandLines(names: names)
        if AppBundle.kind(of: url) != nil {
            steps = try BundleGuide(url: url, path: path ?? url.path, names: names, commands: maker).steps()
        } else if InputFile.kind(of: url).isFolder {
            steps = try ProjectGuide(url: url, commands: maker).steps()
        } else {
            throw AppToolsError(.unsupported, "is neither a bundle nor the folder of a project", at: url.path)
        }
    }
}

/// Command lines as a shell takes them.
struct CommandLines {
    let names: NamingProfile

    func line(_ command: String, _ arguments: String..., options: String = "", named: Bool = true) -> String {
        let suffix = named && names != .cordon ? " --names \(names.name)" : ""
        let parts = ["cordon", command] + arguments.map(Self.quoted)
        return parts.joined(separator: " ") + suffix + (options.isEmpty ? "" : " " + options)
    }

    static func quoted(_ text: String) -> String {
        let isPlain = text.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || $0.properties.numericType != nil || "/._-+=@:".unicodeScalars.contains($0)
        }
        return isPlain && !text.isEmpty ? text : "'" + text.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }
}
