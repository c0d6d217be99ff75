import CordonGraph
import CordonHTTPClient
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonServiceHTTP
import CordonServiceSQLite
import CordonTesting
import Foundation
import Logging

/// The service in a process of its own, so that its use of processor and memory is the service's alone.
struct ServiceProcess {
    static let tenant = TenantID("contoso")
    static let bundleID = "org.example.bench"
    static let people = 1_000

    let process: Process
    let base: URL
    let issuer: Issuer
    let rootKey: String

    static func person(_ number: Int) -> ManagedAccount {
        ManagedAccount(
            id: AccountID("oid-\(number)"), tenant: tenant, userPrincipalName: "p\(number)@contoso.example")
    }

    /// Starts this program again as a service in the folder.
    ///
    /// - Parameter isSecure: Whether it answers by TLS, with ``ServiceCertificate``.
    static func start(in folder: URL, isSecure: Bool = false) throws -> ServiceProcess {
        let key = SoftwareSigningKey()
        let file = folder.appending(path: "issuer.key")
        try key.rawRepresentation.write(to: file)
        let process = Process()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["serve", folder.path] + (isSecure ? ["tls"] : [])
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = Pipe()
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        let words = line.split(separator: " ").map { $0.trimmingCharacters(in: .newlines) }
        guard words.count == 2, let base = URL(string: words[0]) else { throw CocoaError(.fileReadUnknown) }
        return ServiceProcess(process: process, base: base, issuer: Issuer(key: key), rootKey: words[1])
    }

    /// What `serve` does: a service with one policy for everyone, until it is killed or the process that started it has ended.
    static func serve(in folder: URL, isSecure: Bool) async throws {
        Thread.detachNewThread {
            _ = try? FileHandle.standardInput.readToEnd()
            exit(0)
        }
        let issuer = Issuer(
            key: try SoftwareSigningKey(rawRepresentation: Data(contentsOf: folder.appending(path: "issuer.key"))))
        let logger = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
        var rules = ServiceConfiguration()
        rules.wipeBudget = .max
        let service = ManagementService(
            storage: try SQLiteStorage(file: folder.appending(path: "service.sqlite")),
            keyStore: try FileServiceKeyStore(folder: folder.appending(path: "keys")),
            configuration: rules, logger: logger)
        try await service.open(tenant)
        try await fill(service)
        var configuration = ServiceServerConfiguration(tenant: tenant)
        configuration.issuers = [Issuer.name]
        configuration.limits = .development
        configuration.maximumConnections = 100_000
        configuration.certificate = isSecure ? ServiceCertificate.files(in: folder) : nil
        let root = try await service.devices.discoveryFacts(of: tenant).rootKeyThumbprint
        let server = try ServiceServer(
            configuration, service: service, documents: issuer, extensions: [.graph], logger: logger)
        try await server.run { address in
            FileHandle.standardOutput.write(Data("\(address.base.absoluteString) \(root)\n".utf8))
        }
    }

    /// Puts the people into a service, and one policy for all of them.
    static func fill(_ service: ManagementService) async throws {
        let owner = Administrator(tenant: tenant, id: "owner", name: "Owner", roles: [.owner])
        for number in 0..<people {
            let account = person(number)
            try await service.provisioning.saveUser(
                DirectoryUser(
                    id: account.id.rawValue, userPrincipalName: account.userPrincipalName, displayName: "Person"),
                as: owner)
        }
        let policy = try await service.administration.createPolicy(
            .iosManagedAppProtection, document: ["displayName": "Benchmark"], as: owner)
        _ = try await service.administration.targetApps(
            [.init(.ios, bundleID)], group: nil, ofPolicy: policy.id, as: owner)
        _ = try await service.administration.assignPolicy(
            policy.id, to: [PolicyAssignment(.allLicensedUsers)], as: owner)
    }

    /// Seconds of processor time that the process has used.
    var processorTime: Double {
        let text = (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)) ?? ""
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 13, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Resident memory in bytes.
    var memory: Int {
        let text = (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0)
            * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Registered devices of these people, one for each, with keys of their own.
    func devices(
        named name: String, of people: [ManagedAccount], over transport: AsyncHTTPTransport
    ) async throws -> [SimulatedDevice] {
        let issuer = issuer
        var devices: [SimulatedDevice] = []
        for (number, account) in people.enumerated() {
            let cache = TokenCache()
            let device = SimulatedDevice(
                service: base, pin: rootKey, account: account, bundleID: Self.bundleID, tag: "\(name)-\(number)",
                transport: transport
            ) { key in try await cache.token { try issuer.checkInToken(account, boundTo: key) } }
            try await device.register()
            devices.append(device)
        }
        return devices
    }
}
