/// The property list that says what an app or an extension is.
package enum InfoPropertyList {
    /// Whether a file may be one by its name: `Info.plist`, `App-Info.plist`, and those of a configuration, `Info-Dev.plist` or `Info2.plist`;
    /// `Information.plist` is an app's own.
    package static func isNamed(_ name: String) -> Bool {
        if name.hasSuffix("Info.plist") { return true }
        guard name.hasPrefix("Info"), name.hasSuffix(".plist") else { return false }
        return name.dropFirst(4).first?.isLetter == false
    }
}
