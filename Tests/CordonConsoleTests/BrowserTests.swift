import CordonConsole
import CordonGraph
import CordonHTTPClient
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonServiceHTTP
import CordonTestSupport
import CordonTesting
import Foundation
import Logging
import Testing

/// The console in a real browser, on a real socket.
@Suite(.tags(.foreignPrograms), .timeLimit(.minutes(25))) struct BrowserTests {
    private static let canBrowse =
        ["/usr/bin/chromium", "/usr/bin/chromedriver"].allSatisfy(FileManager.default.isExecutableFile(atPath:))
        && Program.hasPython(with: "selenium", "axe_selenium_python")
    private static let scripts = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Clients")

    /// A phone whose app enrols as soon as a policy reaches it, takes every new version, and carries wipes out.
    private struct Phone: Sendable {
        var person: FakeProvider.Person
        var tag: String
        /// Whether it is never heard of again once it is enrolled.
        var isLost = false
        /// How many wipes fail before one succeeds.
        var failures = 0
    }

    @Test(
        .enabled(
            if: canBrowse, "needs chromium, chromium-driver and the Python packages selenium and axe-selenium-python"))
    func `an administrator protects a pilot group and wipes a phone in a browser, and axe finds nothing on any page`()
        async throws
    {
        var rules = ServiceConfiguration()
        // What removes the data of more than one person an hour takes a second administrator.
        rules.wipeBudget = 1
        let service = try await Self.service(rules)
        let second = FakeProvider.Person(id: "oid-second", name: "second@contoso.example", roles: [])
        // Whose phone enrols and is never heard of again.
        let third = FakeProvider.Person(id: "oid-third", name: "third@contoso.example", roles: [])
        for (person, name) in [(second, "Worker B"), (third, "Worker C")] {
            try await service.provisioning.saveUser(
                DirectoryUser(id: person.id, userPrincipalName: person.name, displayName: name),
                as: ConsoleFixture.owner)
        }
        try await service.provisioning.saveGroup(
            DirectoryGroup(
                id: ConsoleFixture.group, displayName: "Field workers",
                members: [.user(ConsoleFixture.worker.id), .user(second.id)]), as: ConsoleFixture.owner)
        try await service.provisioning.saveGroup(
            DirectoryGroup(
                id: "group-night", displayName: "Night shift", members: [.user(second.id), .user(third.id)]),
            as: ConsoleFixture.owner)
        let routes = JSONValue.array(try ConsoleCrawl.routes("get").sorted().map { .string($0) })
        let phones = [
            Phone(person: ConsoleFixture.worker, tag: "tag-1234"), Phone(person: second, tag: "tag-5678"),
            Phone(person: third, tag: "tag-9012", isLost: true),
        ]
        try await Self.walk("console_walk.py", in: service, among: phones, ["CORDON_ROUTES": routes.text()])
    }

    @Test(
        .enabled(
            if: canBrowse, "needs chromium, chromium-driver and the Python packages selenium and axe-selenium-python"))
    func `a phone whose wipe has failed for good is wiped again in a browser`() async throws {
        let rules = ServiceConfiguration()
        let service = try await Self.service(rules)
        let policy = try await service.administration.createPolicy(
            .iosManagedAppProtection,
            document: [
                "displayName": "Notes",
                "apps": [GraphApps.json(MobileAppIdentifier(.ios, ConsoleFixture.bundleID), version: "")],
            ], as: ConsoleFixture.owner)
        _ = try await service.administration.assignPolicy(
            policy.id, to: [PolicyAssignment(.group(ConsoleFixture.group))], as: ConsoleFixture.owner)
        let phone = Phone(person: ConsoleFixture.worker, tag: "tag-1234", failures: rules.wipeAttempts)
        try await Self.walk("console_wipes.py", in: service, among: [phone])
    }

    private static func service(_ rules: ServiceConfiguration) async throws -> ManagementService {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let service = ManagementService(
            storage: InMemoryStorage(), keyStore: InMemoryServiceKeyStore(), configuration: rules, logger: logger)
        try await service.open(ConsoleFixture.tenant)
        try await ConsoleFixture.fillDirectory(of: service, workerName: "Worker A")
        return service
    }

    /// Runs a script with a browser in front of the service, while phones are in use.
    private static func walk(
        _ script: String, in service: ManagementService, among phones: [Phone], _ facts: [String: String] = [:]
    ) async throws {
        let provider = FakeProvider(base: "", clock: SettableClock(Date()), hasPage: true)
        var configuration = ServiceServerConfiguration(tenant: ConsoleFixture.tenant)
        configuration.limits = .development
        let server = try ServiceServer(
            development: configuration, service: service, provider: provider.provider,
            extensions: [.graph, .console(ConsoleConfiguration(clientID: "cordon-console"))],
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let (addresses, told) = AsyncStream.makeStream(of: ServiceServer.Address.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run { told.yield($0) } }
            let address = try #require(await addresses.first { _ in true })
            let inUse = phones.map { phone in
                Task { try await use(phone, at: address.base, of: service, provider) }
            }
            defer { for phone in inUse { phone.cancel() } }
            var environment = facts
            environment["CORDON_CONSOLE"] = address.base.absoluteString
            if let folder = ProcessInfo.processInfo.environment["CORDON_PICTURES"] {
                environment["CORDON_PICTURES"] = folder
            }
            let result = try await Program.run(
                Program.python ?? "python3", [scripts.appending(path: script).path], environment: environment)
            #expect(result.status == 0, "\(result.everything)")
            // Not cancelled: NIO ends the process over a connection that was accepted and is not served any more.
            await server.shutDown()
            try await group.waitForAll()
        }
    }

    private static func use(
        _ phone: Phone, at base: URL, of service: ManagementService, _ provider: FakeProvider
    ) async throws {
        let transport = AsyncHTTPTransport()
        let device = try await ConsoleFixture.device(
            phone.tag, of: phone.person, at: base, service, provider, over: transport)
        var failed: Set<String> = []
        while !Task.isCancelled {
            if await device.registrationID.isEmpty {
                _ = try? await device.register()
            } else if phone.isLost {
                break
            } else if (try? await device.checkIn()) != nil {
                let wipes = (await device.envelope?.commands ?? []).filter { $0.kind == .wipe }.map(\.id)
                let fails = failed.union(wipes).count <= phone.failures
                if fails { failed.formUnion(wipes) }
                try? await device.carryOutWipes(leaving: fails ? ["notes.db is in use"] : [])
            }
            try? await Task.sleep(for: .milliseconds(phone.isLost ? 2_000 : 300))
        }
        await transport.shutdown()
    }
}
