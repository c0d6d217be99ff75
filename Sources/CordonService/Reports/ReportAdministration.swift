/// What administrators are told of all apps together (SRV-TG-37…42); every call throws ``ServiceError``.
public protocol ReportAdministration: Sendable {
    /// The apps that have other rules in force than they should, longest first (SRV-TG-42).
    func drift(as administrator: Administrator) async throws(ServiceError) -> [DriftedApp]

    /// The figures of the whole organisation (SRV-TG-38).
    func protectionSummary(as administrator: Administrator) async throws(ServiceError) -> ProtectionSummary

    /// The apps whose device found something wrong with itself, longest first; one leaves the list with the next clean
    /// check, and in no other way (SRV-TG-39).
    func flaggedApps(as administrator: Administrator) async throws(ServiceError) -> [FlaggedApp]

    /// How a person's apps stand: those that a protection is assigned in, and those that are enrolled, ordered by bundle id
    /// (SRV-TG-37).
    func appStatuses(ofUser id: String, as administrator: Administrator) async throws(ServiceError)
        -> [PersonAppStatus]

    /// The wipes and commands that are under way for a person's apps, each newest first (SRV-TG-40).
    func pendingWork(ofUser id: String, as administrator: Administrator) async throws(ServiceError)
        -> (wipes: [WipeOperation], commands: [IssuedCommand])

    /// The alerts of the last thirty days, newest first (SRV-TG-29).
    func alerts(as administrator: Administrator) async throws(ServiceError) -> [OperatorAlert]
}
