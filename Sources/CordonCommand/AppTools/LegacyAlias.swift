/// The original tools' flag spelling, understood when the program is started under their counterpart's name (TL-GN-01).
enum LegacyAlias {
    /// The names that are aliases.
    static let names = ["CordonConfigurator", "CordonFrameworkPatcher"]

    /// What to print for a question for help, in the alias's own flags; nil for anything else.
    static func help(arguments: [String]) -> String? {
        let rest = arguments.dropFirst()
        guard let program = arguments.first?.split(separator: "/").last,
            rest.isEmpty || rest.contains("-h") || rest.contains("--help")
        else { return nil }
        switch program {
        case "CordonConfigurator":
            return """
                USAGE: CordonConfigurator -i INFO.plist [-e FILE.entitlements] [-o OUTPUT.plist]
                       CordonConfigurator -generateOpenInIcons APP -o FOLDER

                  -i    The Info.plist of the app or extension; changed in place unless -o is given.
                  -e    The entitlements that must have the keychain groups.
                  -o    Where to write the Info.plist, or the folder for the icons.
                  -generateOpenInIcons
                        Make the icons of an Open-In extension from the app's own.

                The same as: cordon configure --names intune-compatible, which takes more options.
                """
        case "CordonFrameworkPatcher":
            return """
                USAGE: CordonFrameworkPatcher (-i | -r | -v) APP [-resign] [-verbose]

                  -i        Make the app's code load the framework.
                  -r        Undo that.
                  -v        Only report the state of each image; status 1 when one does not load it.
                  -resign   Sign again what the patch breaks; with a certificate add --key and --certificate, or --p12.
                  -verbose  Report the state of every image.

                The same as: cordon patch --names intune-compatible, which takes more options.
                """
        default: return nil
        }
    }

    /// The arguments of `cordon` that mean the same; nil when the program's name is no alias.
    ///
    /// - Parameter arguments: All arguments, the program's path first.
    static func translate(arguments: [String]) -> [String]? {
        guard let program = arguments.first?.split(separator: "/").last else { return nil }
        let rest = Array(arguments.dropFirst())
        switch program {
        case "CordonConfigurator": return configurator(rest)
        case "CordonFrameworkPatcher": return patcher(rest)
        default: return nil
        }
    }

    private static let profile = ["--names", "intune-compatible"]

    private static func configurator(_ arguments: [String]) -> [String] {
        if arguments.contains("-generateOpenInIcons") {
            return ["icons"] + replaced(arguments, ["-generateOpenInIcons": [], "-o": ["--output"]])
        }
        let flags = ["-i": [], "-e": ["--entitlements"], "-o": ["--output"]]
        return ["configure"] + profile + replaced(arguments, flags)
    }

    private static func patcher(_ arguments: [String]) -> [String] {
        let flags = [
            "-i": ["--install"], "-r": ["--remove"], "-v": ["--verify"], "-resign": ["--resign"],
            "-verbose": ["--verbose"],
        ]
        return ["patch"] + profile + replaced(arguments, flags)
    }

    private static func replaced(_ arguments: [String], _ flags: [String: [String]]) -> [String] {
        arguments.flatMap { flags[$0] ?? [$0] }
    }
}
