// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

open class INIntent: NSObject {}
open class INIntentResponse: NSObject {}
open class INInteraction: NSObject {
    /// What the system was given and has not been told to forget, by group.
    nonisolated(unsafe) public private(set) static var stubDonated: [String: Int] = [:]
    /// What happens while the system takes a donation.
    nonisolated(unsafe) public static var stubDuring: (() -> Void)?
    public let intent: INIntent
    open var identifier = UUID().uuidString
    open var groupIdentifier: String?
    public init(intent: INIntent, response: INIntentResponse?) { self.intent = intent }
    open func donate(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
        Self.stubDuring?()
        Self.stubDonated[groupIdentifier ?? "", default: 0] += 1
        completion?(nil)
    }
    open class func delete(with groupIdentifier: String, completion: (@Sendable ((any Error)?) -> Void)? = nil) {
        stubDonated[groupIdentifier] = nil
        completion?(nil)
    }
}
