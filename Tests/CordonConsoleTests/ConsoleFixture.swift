import CordonBase
import CordonConsole
import CordonGraph
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonSignIn
import CordonTestSupport
import CordonTesting
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Testing

@testable import CordonServiceHTTP

/// The service with its console on a router, with a clock and a provider that the test controls.
struct ConsoleFixture: Sendable {
    static let tenant = TenantID("contoso")
    static let base = "http://127.0.0.1:8080"
    static let group = "group-workers"
    static let bundleID = "com.contoso.notes"

    static let ada = FakeProvider.Person(id: "oid-ada", name: "ada@contoso.example", roles: ["owner"])
    static let bea = FakeProvider.Person(id: "oid-bea", name: "bea@contoso.example", roles: ["owner"])
    static let hedy = FakeProvider.Person(id: "oid-hedy", name: "hedy@contoso.example", roles: ["helpDesk"])
    static let eve = FakeProvider.Person(id: "oid-eve", name: "eve@contoso.example", roles: [])
    static let worker = FakeProvider.Person(id: "oid-worker", name: "worker@contoso.example", roles: [])
    static let owner = Administrator(tenant: tenant, id: "oid-ada", name: "ada@contoso.example", roles: [.owner])

    let clock = SettableClock()
    let provider: FakeProvider
    let service: ManagementService
    let storage: any ServiceStorage
    private let application: Application<RouterResponder<ServiceRequestContext>>

    /// - Parameters:
    ///   - wipeBudget: How many people one administrator may make lose data alone.
    ///   - impactLimit: How many people may lose data by a change whose number its author was not shown.
    init(
        workerName: String = "Worker A", wipeBudget: Int = 20, impactLimit: Int = 5,
        storage: any ServiceStorage = InMemoryStorage()
    ) async throws {
        self.storage = storage
        let clock = clock
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        var rules = ServiceConfiguration()
        (rules.wipeBudget, rules.impactLimit) = (wipeBudget, impactLimit)
        rules.registrationsPerPerson = 1_000_000
        service = ManagementService(
            storage: storage, keyStore: InMemoryServiceKeyStore(), configuration: rules, clock: { clock.now },
            logger: logger)
        try await service.open(Self.tenant)
        provider = FakeProvider(base: Self.base, clock: clock)
        var configuration = ServiceServerConfiguration(tenant: Self.tenant)
        configuration.heartbeat = .seconds(3_600)
        configuration.limits = .development
        let router = ServiceRouter(
            configuration: configuration, base: Self.base, issuer: try #require(URL(string: provider.issuer)),
            service: service, documents: provider, provider: provider.provider,
            extensions: [.graph, .console(ConsoleConfiguration(clientID: "cordon-console"))], logger: logger,
            now: { clock.now })
        application = Application(responder: router.responder(), logger: logger)
        try await Self.fillDirectory(of: service, workerName: workerName)
    }

    /// Adds the people of the tests, and a group.
    static func fillDirectory(of service: ManagementService, workerName: String) async throws {
        for person in [Self.ada, Self.hedy, Self.worker] {
            try await service.provisioning.saveUser(
                DirectoryUser(
                    id: person.id, userPrincipalName: person.name,
                    displayName: person.id == Self.worker.id ? workerName : person.name), as: Self.owner)
        }
        try await service.provisioning.saveGroup(
            DirectoryGroup(id: Self.group, displayName: "Field workers", members: [.user(Self.worker.id)]),
            as: Self.owner)
    }

    /// A policy that reaches the worker in the test app; its id.
    func publishPolicy(_ document: JSONValue = ["displayName": "Notes"]) async throws -> String {
        let policy = try await service.administration.createPolicy(
            .iosManagedAppProtection, document: document, as: Self.owner)
        _ = try await service.administration.targetApps(
            [MobileAppIdentifier(.ios, Self.bundleID)], group: nil, ofPolicy: policy.id, as: Self.owner)
        return try await service.administration.assignPolicy(
            policy.id, to: [PolicyAssignment(.group(Self.group))], as: Self.owner
        ).id
    }

    /// Runs a test with a browser in front of the routes.
    func test(_ body: @escaping @Sendable (Browser) async throws -> Void) async throws {
        try await application.test(.router) { client in try await body(Browser(client: client, fixture: self)) }
    }
}

/// A browser as far as the console needs one: it keeps cookies, follows redirects, and sends the forms that it was shown.
final class Browser: Sendable {
    struct Shown: Sendable {
        var status: HTTPResponse.Status
        var path: String
        var text: String
        var headers: HTTPFields
    }

    let client: any TestClientProtocol
    private let used: ConsoleFixture?
    private let cookies = Locked<[String: String]>([:])
    private let languages = Locked<String?>(nil)

    init(client: any TestClientProtocol, fixture: ConsoleFixture? = nil) {
        self.client = client
        used = fixture
    }

    /// What the browser stands in front of.
    func fixture() throws -> ConsoleFixture { try #require(used) }

    var jar: [String: String] { cookies.withLock { $0 } }

    /// Asks for pages in these languages from now on.
    func speak(_ acceptLanguage: String?) { languages.withLock { $0 = acceptLanguage } }

    func setCookie(_ name: String, _ value: String) { cookies.withLock { $0[name] = value } }

    func forgetCookie(_ name: String) { cookies.withLock { $0[name] = nil } }

    /// Another browser of the same person: the same cookies, another copy of them.
    func copy() -> Browser {
        let other = Browser(client: client, fixture: used)
        let known = jar
        other.cookies.withLock { $0 = known }
        return other
    }

    @discardableResult
    func signIn(_ person: FakeProvider.Person?, at path: String = "/console") async throws -> Shown {
        try fixture().provider.use(person)
        return try await get(path)
    }

    @discardableResult
    func get(_ path: String) async throws -> Shown { try await visit(.get, path, nil, [:]) }

    /// Sends a form to a path, with the token of a page of this session unless another one is given.
    @discardableResult
    func post(
        _ path: String, _ values: [(key: String, value: String)], csrf: String? = nil, headers: HTTPFields = [:]
    ) async throws -> Shown {
        let token: String
        if let csrf { token = csrf } else { token = try await self.csrf() }
        return try await visit(.post, path, FormEncoding.encode([("csrf", token)] + values), headers)
    }

    /// The token that the forms of this session carry.
    func csrf() async throws -> String {
        let page = try await get("/console")
        return page.text.firstMatch(of: /name="csrf" value="([^"]+)"/).map { String($0.1) } ?? ""
    }

    /// Sends the form of a page that goes to a path, with some of its fields filled in, and others left without a tick.
    func submit(
        _ page: Shown, to action: String, _ filled: [(key: String, value: String)] = [], unticking: Set<String> = []
    ) async throws -> Shown {
        let forms = page.text.matches(of: /(?s)<form[^>]*method="post" action="([^"]*)".*?<\/form>/)
        let form = try #require(forms.first { $0.1 == action }, "no form goes to \(action)")
        var values: [(key: String, value: String)] = []
        let names = Set(filled.map(\.key)).union(unticking)
        for input in form.0.matches(of: /<input([^>]*)>/) {
            let attributes = String(input.1)
            guard let name = attributes.firstMatch(of: /name="([^"]*)"/).map({ Self.unescape($0.1) }),
                !names.contains(name)
            else { continue }
            let isTick = attributes.contains("type=\"checkbox\"") || attributes.contains("type=\"radio\"")
            guard !isTick || attributes.hasSuffix(" checked") || attributes.contains(" checked ") else { continue }
            values.append((name, attributes.firstMatch(of: /value="([^"]*)"/).map { Self.unescape($0.1) } ?? ""))
        }
        for area in form.0.matches(of: /(?s)<textarea[^>]*name="([^"]*)"[^>]*>\n?(.*?)<\/textarea>/)
        where !names.contains(String(area.1)) {
            values.append((String(area.1), Self.unescape(area.2)))
        }
        for select in form.0.matches(of: /(?s)<select[^>]*name="([^"]*)"[^>]*>(.*?)<\/select>/)
        where !names.contains(String(select.1)) {
            if let chosen = select.2.firstMatch(of: /<option value="([^"]*)" selected>/) {
                values.append((String(select.1), Self.unescape(chosen.1)))
            }
        }
        return try await visit(.post, action, FormEncoding.encode(values + filled), [:])
    }

    static func unescape(_ text: Substring) -> String {
        String(text).replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
            .replacing("&#39;", with: "'").replacing("&#96;", with: "`").replacing("&amp;", with: "&")
    }

    private func visit(
        _ method: HTTPRequest.Method, _ path: String, _ form: String?, _ headers: HTTPFields
    ) async throws -> Shown {
        var (method, path, form, headers) = (method, path, form, headers)
        for _ in 0..<12 {
            headers[.cookie] = jar.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
            headers[.acceptLanguage] = languages.withLock { $0 }
            if form != nil { headers[.contentType] = "application/x-www-form-urlencoded" }
            let answer = try await client.execute(
                uri: path.replacing(ConsoleFixture.base, with: ""), method: method, headers: headers,
                body: form.map { ByteBuffer(string: $0) })
            keep(answer.headers[values: .setCookie])
            guard answer.status == .seeOther, let location = answer.headers[.location] else {
                return Shown(
                    status: answer.status,
                    path: path.replacing(ConsoleFixture.base, with: "").replacing(/[?&]done=[a-z-]+/, with: ""),
                    text: String(buffer: answer.body), headers: answer.headers)
            }
            (method, form, headers) = (.get, nil, [:])
            path = location
        }
        throw TooManyRedirects()
    }

    private struct TooManyRedirects: Error {}

    private func keep(_ set: [String]) {
        for cookie in set {
            let pair = cookie.split(separator: ";")[0].split(separator: "=", maxSplits: 1)
            cookies.withLock {
                $0[String(pair[0])] = cookie.contains("Max-Age=0") ? nil : String(pair.count > 1 ? pair[1] : "")
            }
        }
    }
}
