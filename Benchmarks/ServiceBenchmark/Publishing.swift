import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonServiceSQLite
import Foundation
import Logging

/// What one change of a policy costs while the registrations that it does not target grow.
enum Publishing {
    static let targeted = 100

    /// Milliseconds of a change with so many registrations in all, the median of some.
    static func measure(registrations: Int, in folder: URL) async throws -> Double {
        let folder = folder.appending(path: "publish-\(registrations)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let storage = try SQLiteStorage(file: folder.appending(path: "service.sqlite"))
        let service = ManagementService(
            storage: storage, keyStore: InMemoryServiceKeyStore(),
            logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        let tenant = ServiceProcess.tenant
        try await service.open(tenant)
        let owner = Administrator(tenant: tenant, id: "owner", name: "Owner", roles: [.owner])
        try await service.provisioning.saveUser(
            DirectoryUser(id: "oid-0", userPrincipalName: "p0@contoso.example", displayName: "Person"), as: owner)
        let key = SoftwareSigningKey().publicKey
        for start in stride(from: 0, to: registrations, by: 2_000) {
            try await storage.write(tenant) { transaction in
                for number in start..<min(start + 2_000, registrations) {
                    let app = number < targeted ? ServiceProcess.bundleID : "org.example.other"
                    try transaction.save(
                        Registration(
                            id: "r-\(number)", account: ServiceProcess.person(0), key: key, source: .loginAndEnroll,
                            created: Date(), application: .init(bundleID: app, version: "1", sdkVersion: "1"),
                            device: .init(tag: "t-\(number)", osVersion: "18", model: "m")))
                }
            }
        }
        let policy = try await service.administration.createPolicy(
            .iosManagedAppProtection, document: ["displayName": "Benchmark"], as: owner)
        _ = try await service.administration.targetApps(
            [.init(.ios, ServiceProcess.bundleID)], group: nil, ofPolicy: policy.id, as: owner)
        _ = try await service.administration.assignPolicy(
            policy.id, to: [PolicyAssignment(.allLicensedUsers)], as: owner)
        var times: [Double] = []
        for run in 0..<15 {
            let began = ContinuousClock.now
            _ = try await service.administration.updatePolicy(
                policy.id, changes: ["printBlocked": .bool(run.isMultiple(of: 2))], ifVersion: nil, as: owner)
            let time = began.duration(to: .now).components
            times.append(Double(time.seconds) * 1_000 + Double(time.attoseconds) * 1e-15)
        }
        try storage.close()
        return times.sorted()[times.count / 2]
    }
}
