// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

public struct UTType: Sendable, Hashable {
    public let identifier: String
    public init?(_ identifier: String) { self.identifier = identifier }
    init(stub identifier: String) { self.identifier = identifier }
    public static let data = UTType(stub: "public.data")
    public static let utf8PlainText = UTType(stub: "public.utf8-plain-text")
}
