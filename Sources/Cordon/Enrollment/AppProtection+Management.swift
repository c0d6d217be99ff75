internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

extension AppProtection {
    /// The app as the service is told of it: managed where the device's management has given it the account, by sign-in name or
    /// object id (SRV-TG-06).
    func application(of account: ManagedAccount) -> ApplicationFacts {
        let isNamed = configuration.statedName?.lowercased() == account.userPrincipalName.lowercased()
        let isManaged = isNamed || accounts.deviceAccount.map { resolved($0) == account.id } ?? false
        var facts = configuration.application
        facts.management = isManaged ? .mdm : .unmanaged
        return facts
    }
}

extension ProtectionConfiguration {
    /// The keys under which a device's management names the account by its sign-in name, by the field's spelling and by
    /// Cordon's own.
    private static let nameKeys = ["IntuneMAMUPN", "CordonUserName"]

    /// The sign-in name that the device's management has given to the app.
    var statedName: String? {
        Self.nameKeys.lazy.compactMap { managedConfiguration[$0]?.string }.first { !$0.isEmpty }
    }
}
