// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

open class UNNotificationAttachment: NSObject {}
open class UNNotificationContent: NSObject {
    fileprivate(set) var stub = (
        title: "", subtitle: "", body: "", thread: "", attachments: [UNNotificationAttachment]()
    )
    fileprivate(set) var details: [AnyHashable: Any] = [:]
    open var title: String { stub.title }
    open var subtitle: String { stub.subtitle }
    open var body: String { stub.body }
    open var threadIdentifier: String { stub.thread }
    open var attachments: [UNNotificationAttachment] { stub.attachments }
    open var userInfo: [AnyHashable: Any] { details }
    open override func mutableCopy() -> Any {
        let copy = UNMutableNotificationContent()
        (copy.stub, copy.details) = (stub, details)
        return copy
    }
}
open class UNMutableNotificationContent: UNNotificationContent {
    open override var title: String {
        get { stub.title }
        set { stub.title = newValue }
    }
    open override var subtitle: String {
        get { stub.subtitle }
        set { stub.subtitle = newValue }
    }
    open override var body: String {
        get { stub.body }
        set { stub.body = newValue }
    }
    open override var threadIdentifier: String {
        get { stub.thread }
        set { stub.thread = newValue }
    }
    open override var attachments: [UNNotificationAttachment] {
        get { stub.attachments }
        set { stub.attachments = newValue }
    }
    open override var userInfo: [AnyHashable: Any] {
        get { details }
        set { details = newValue }
    }
}
open class UNNotificationRequest: NSObject {
    public let identifier: String
    public let content: UNNotificationContent
    public init(identifier: String, content: UNNotificationContent) {
        (self.identifier, self.content) = (identifier, content)
    }
}
open class UNNotificationServiceExtension: NSObject {
    public override init() { super.init() }
    open func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {}
    open func serviceExtensionTimeWillExpire() {}
}
