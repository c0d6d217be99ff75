/// The original tools' flag spelling, understood when the program is started under their counterpart's name (TL-GN-01).
enum LegacyAlias {
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

    private static let names = ["--names", "intune-compatible"]

    private static func configurator(_ arguments: [String]) -> [String] {
        if arguments.contains("-generateOpenInIcons") {
            return ["icons"] + replaced(arguments, ["-generateOpenInIcons": [], "-o": ["--output"]])
        }
        let flags = ["-i": [], "-e": ["--entitlements"], "-o": ["--output"]]
        return ["configure"] + names + replaced(arguments, flags)
    }

    private static func patcher(_ arguments: [String]) -> [String] {
        let flags = [
            "-i": ["--install"], "-r": ["--remove"], "-v": ["--verify"], "-resign": ["--resign"],
            "-verbose": ["--verbose"],
        ]
        return ["patch"] + names + replaced(arguments, flags)
    }

    private static func replaced(_ arguments: [String], _ flags: [String: [String]]) -> [String] {
        arguments.flatMap { flags[$0] ?? [$0] }
    }
}
