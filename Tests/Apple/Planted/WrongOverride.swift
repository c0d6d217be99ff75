// refused: do not match those of overridden method
// An extension whose method the system does not call.

import UserNotifications

final class Service: UNNotificationServiceExtension {
    override func didReceive(_ request: UNNotificationRequest, with handler: @escaping (UNNotificationContent) -> Void)
    {}
}
