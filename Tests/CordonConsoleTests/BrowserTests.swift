import CordonConsole
import CordonGraph
import CordonHTTPClient
import CordonIdentity
import CordonPolicy
import CordonService
import CordonServiceHTTP
import CordonTestSupport
import CordonTesting
import Foundation
import Logging
import Testing

/// The console in a real browser, on a real socket.
@Suite(.tags(.machineAlone), .timeLimit(.minutes(25))) struct BrowserTests {
    private static let canBrowse =
        ["/usr/bin/chromium", "/usr/bin/chromedriver"].allSatisfy(FileManager.default.isExecutableFile(atPath:))
        && Program.hasPython(with: "selenium", "axe_selenium_python")
    private static let walk = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Clients/console_walk.py").path

    @Test(
        .enabled(
            if: canBrowse, "needs chromium, chromium-driver and the Python packages selenium and axe-selenium-python"))
    func `an administrator protects a pilot group and wipes a phone in a browser, and axe finds nothing on any page`()
        async throws
    {
        let provider = FakeProvider(base: "", clock: SettableClock(Date()), hasPage: true)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        var rules = ServiceConfiguration()
        // What removes the data of more than one person an hour takes a second administrator.
        rules.wipeBudget = 1
        let service = ManagementService(
            storage: InMemoryStorage(), keyStore: InMemoryServiceKeyStore(), configuration: rules, logger: logger)
        try await service.open(ConsoleFixture.tenant)
        try await ConsoleFixture.fillDirectory(of: service, workerName: "Worker A")
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
        var configuration = ServiceServerConfiguration(tenant: ConsoleFixture.tenant)
        configuration.limits = .development
        let server = try ServiceServer(
            development: configuration, service: service, provider: provider.provider,
            extensions: [.graph, .console(ConsoleConfiguration(clientID: "cordon-console"))], logger: logger)
        let (addresses, told) = AsyncStream.makeStream(of: ServiceServer.Address.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run { told.yield($0) } }
            let address = try #require(await addresses.first { _ in true })
            for (person, tag) in [(ConsoleFixture.worker, "tag-1234"), (second, "tag-5678"), (third, "tag-9012")] {
                let isLost = person.id == third.id
                group.addTask { try await Self.useDevice(at: address.base, of: service, provider, person, tag, isLost) }
            }
            let routes = JSONValue.array(try ConsoleCrawl.routes("get").sorted().map { .string($0) })
            var environment = ["CORDON_CONSOLE": address.base.absoluteString, "CORDON_ROUTES": routes.text()]
            if let folder = ProcessInfo.processInfo.environment["CORDON_PICTURES"] {
                environment["CORDON_PICTURES"] = folder
            }
            let result = try await Program.run(Program.python ?? "python3", [Self.walk], environment: environment)
            #expect(result.status == 0, "\(result.everything)")
            group.cancelAll()
            await server.shutDown()
        }
    }

    /// A phone whose app enrols as soon as a policy reaches it, takes every new version, and carries wipes out; one that is lost does so
    /// no more once it is enrolled.
    private static func useDevice(
        at base: URL, of service: ManagementService, _ provider: FakeProvider, _ person: FakeProvider.Person,
        _ tag: String, _ isLost: Bool
    ) async throws {
        let transport = AsyncHTTPTransport()
        let device = try await ConsoleFixture.device(tag, of: person, at: base, service, provider, over: transport)
        while !Task.isCancelled {
            if await device.registrationID.isEmpty {
                _ = try? await device.register()
            } else if isLost {
                break
            } else if (try? await device.checkIn()) != nil {
                try? await device.carryOutWipes()
            }
            try? await Task.sleep(for: .milliseconds(isLost ? 2_000 : 300))
        }
        await transport.shutdown()
    }
}
