// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

// Foundation's on Apple platforms.
public struct LocalizedStringResource: Sendable, ExpressibleByStringLiteral {
    public let key: String
    public init(stringLiteral value: String) { key = value }
}
public protocol CustomLocalizedStringResourceConvertible {
    var localizedStringResource: LocalizedStringResource { get }
}
