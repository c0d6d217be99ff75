/// Where in the source an error was made, kept without allocating.
package struct CodePlace: Sendable, CustomStringConvertible {
    private let file: StaticString
    private let line: UInt

    /// Takes what `#fileID` and `#line` say at the caller's.
    package init(_ file: StaticString, _ line: UInt) { (self.file, self.line) = (file, line) }

    /// Module, file and line, such as `CordonVault/Vault.swift:42`.
    package var description: String { "\(file):\(line)" }
}
