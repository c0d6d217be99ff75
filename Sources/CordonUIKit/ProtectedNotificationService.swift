#if canImport(UIKit) && canImport(UserNotifications)
    public import Cordon
    internal import CordonScreens
    internal import Foundation
    public import UserNotifications

    /// The base class of a notification service extension that shows only what the rules allow (SDK-NO-03).
    ///
    /// ```swift
    /// final class NotificationService: ProtectedNotificationService {
    ///     override func account(of request: UNNotificationRequest) -> AccountID? { … }
    ///     override func levels() throws -> NotificationLevels { try NotificationLevels(group, dataDirectory: folder) }
    /// }
    /// ```
    /// Whatever is unknown counts as the most restrictive: no value, no answer in time, an account that the request does not name.
    open class ProtectedNotificationService: UNNotificationServiceExtension {
        private var pending: Delivery?

        /// Whose notification it is; nil when that cannot be told. To be overridden.
        open func account(of request: UNNotificationRequest) -> AccountID? { nil }

        /// What the app last said of its accounts. To be overridden.
        ///
        /// - Throws: What opening the group's values throws; nothing is shown then.
        open func levels() throws -> NotificationLevels {
            throw ProtectionError(.noSharingGroup, "the extension names no group")
        }

        /// The language of what stands in place of a notification; nil as in ``ProtectionConfiguration/language``, of the languages that the
        /// extension has. To be overridden where the app names one.
        open var language: String? { nil }

        /// Redacts the content and hands it on.
        open override func didReceive(
            _ request: UNNotificationRequest,
            withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
        ) {
            let delivery = Delivery(request.content, language, contentHandler)
            pending = delivery
            guard let account = account(of: request), let levels = try? levels() else { return delivery.finish(.block) }
            Task { delivery.finish(await levels.level(for: account)) }
        }

        /// The system waits no longer: nothing is shown.
        open override func serviceExtensionTimeWillExpire() { pending?.finish(.block) }
    }

    /// One notification on its way to the system, handed over once.
    private final class Delivery: Sendable {
        private struct Parts {
            let content: UNNotificationContent
            let language: String?
            let handOn: (UNNotificationContent) -> Void
        }

        private let once = FirstCall()
        // Used by the one caller that `once` lets through; the system waits for it and does nothing with them meanwhile.
        nonisolated(unsafe) private let parts: Parts

        init(
            _ content: UNNotificationContent, _ language: String?, _ handOn: @escaping (UNNotificationContent) -> Void
        ) {
            parts = Parts(content: content, language: language, handOn: handOn)
        }

        func finish(_ level: NotificationLevel) {
            guard once.isMine() else { return }
            parts.handOn(parts.content.redacted(to: level, language: parts.language))
        }
    }

    extension UNNotificationContent {
        /// The content with what the rules keep back left out.
        ///
        /// - Parameter language: See `NotificationText.redacted(to:appName:language:)`.
        public func redacted(to level: NotificationLevel, language: String? = nil) -> UNNotificationContent {
            guard level != .allow else { return self }
            let name = Bundle.main.object(forInfoDictionaryKey: "CFBundleDisplayName") as? String ?? ""
            let text = NotificationText(title: title, subtitle: subtitle, body: body)
                .redacted(to: level, appName: name, language: language)
            let shown = UNMutableNotificationContent()
            shown.title = text.title
            shown.subtitle = text.subtitle
            shown.body = text.body
            return shown
        }
    }
#endif
