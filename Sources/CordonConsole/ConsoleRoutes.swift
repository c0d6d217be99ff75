import CordonPolicy
import CordonService
import CordonServiceHTTP
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// The routes of the console, below `/console`.
struct ConsoleRoutes: Sendable {
    /// What answers a request with a session.
    typealias Handler = @Sendable (ConsoleVisit) async throws -> ConsoleAnswer

    let parts: ServerExtension.Parts
    private let configuration: ConsoleConfiguration
    let signIn: ConsoleSignIn
    let keeper: SessionKeeper
    let cookies: ConsoleCookies

    init(_ parts: ServerExtension.Parts, _ configuration: ConsoleConfiguration) {
        self.parts = parts
        self.configuration = configuration
        cookies = ConsoleCookies(isSecure: parts.base.hasPrefix("https:"))
        keeper = SessionKeeper(
            sessions: parts.service.consoleSessions, tenant: parts.tenant, cookies: cookies, now: parts.now)
        signIn = ConsoleSignIn(parts: parts, configuration: configuration, keeper: keeper, cookies: cookies)
    }

    func add(to router: Router<ServiceRequestContext>) {
        guard let renderer = PageRenderer() else {
            return parts.logger.error("the console's pages cannot be read")
        }
        let gate = ConsoleGate(routes: self, renderer: renderer)
        addAssets(to: router, renderer)
        router.get("/console/sign-in") { request, context in
            await gate.open(request, context) { try await signIn.start(request) }
        }
        router.get(RouterPath(ConsoleConfiguration.returnPath)) { request, context in
            await gate.open(request, context) { try await signIn.finish(request, context) }
        }
        let table = ConsoleTable(gate: gate, router: router)
        router.post("/console/sign-out") { request, context in await gate.signOut(request, context) }
        router.post("/console/language") { request, context in await gate.setLanguage(request, context) }
        router.get("/console/live") { [pages = table.pages] request, context in await gate.live(request, context, pages)
        }
        OverviewPage().add(to: table)
        PolicyPages().add(to: table)
        PolicyEditing().add(to: table)
        PolicyApps().add(to: table)
        PolicyTargeting().add(to: table)
        ConfigurationPages().add(to: table)
        PeoplePages().add(to: table)
        EffectiveRulesPage().add(to: table)
        CataloguePages().add(to: table)
        ConnectionPages(webhook: configuration.webhookHost).add(to: table)
        DevicePages().add(to: table)
        WipeRequest().add(to: table)
        WipeListPage().add(to: table)
        WipePage().add(to: table)
        AccessPages().add(to: table)
        HistoryPages().add(to: table)
        ApprovalPages().add(to: table)
        AskPage().add(to: table)
        AuditPages().add(to: table)
        ReportPages().add(to: table)
        RolePages().add(to: table)
        ServicePages().add(to: table)
        TargetPages().add(to: table)
        let unknown: Handler = { _ in throw Refusal(.notFound, "not-found", "The console has no such page.") }
        router.get("/console/**") { request, context in await gate.answer(request, context, keys: [], unknown) }
        router.post("/console/**") { request, context in await gate.answer(request, context, keys: [], unknown) }
    }

    private func addAssets(to router: Router<ServiceRequestContext>, _ renderer: PageRenderer) {
        let files: [(String, String, String)] = [
            ("console.css", ConsoleAssets.style, "text/css; charset=utf-8"),
            ("console.js", ConsoleAssets.script, "text/javascript; charset=utf-8"),
            ("icon.svg", ConsoleAssets.icon, "image/svg+xml"),
        ]
        for (name, text, mediaType) in files {
            router.get(RouterPath("/console/assets/\(name)")) { _, _ in renderer.file(text, mediaType) }
        }
    }
}

/// The pages by their paths: on the router, and for showing one again by itself.
final class ConsoleTable {
    private let gate: ConsoleGate
    private let router: Router<ServiceRequestContext>
    /// Pages that change by themselves.
    let pages = LivePages()

    init(gate: ConsoleGate, router: Router<ServiceRequestContext>) {
        self.gate = gate
        self.router = router
    }

    /// Adds a page.
    ///
    /// - Parameters:
    ///   - permission: What a person must be allowed to be shown the page; the routes that it asks decide anyway.
    ///   - lists: What suffices to be shown a page that is about nothing in particular, so that it always exists: its first bytes go out
    ///     before what stands on it is read.
    ///   - live: Whether the page changes by itself.
    func get(
        _ path: String, needs permission: String? = nil, lists: String? = nil, live: Bool = false,
        _ shown: @escaping ConsoleRoutes.Handler
    ) {
        let keys = Self.keys(path)
        let handler: ConsoleRoutes.Handler = { visit in
            try Self.require(permission, of: visit)
            if let lists, visit.mayEverywhere(lists) { visit.begin() }
            return try await shown(visit)
        }
        if live { pages.add(path, handler) }
        router.get(RouterPath(path)) { [gate] request, context in
            await gate.answer(request, context, keys: keys.map { context.decodedKey($0) }, handler)
        }
    }

    /// Adds what takes a form.
    ///
    /// - Parameter permission: What a person must be allowed, where the answer is a page that only those see who may.
    func post(_ path: String, needs permission: String? = nil, _ handler: @escaping ConsoleRoutes.Handler) {
        let keys = Self.keys(path)
        router.post(RouterPath(path)) { [gate] request, context in
            await gate.answer(request, context, keys: keys.map { context.decodedKey($0) }) { visit in
                try Self.require(permission, of: visit)
                return try await handler(visit)
            }
        }
    }

    private static func require(_ permission: String?, of visit: ConsoleVisit) throws {
        guard permission.map(visit.may) ?? true else {
            throw Refusal(.forbidden, "forbidden", "Your roles do not include this.")
        }
    }

    private static func keys(_ path: String) -> [String] {
        path.split(separator: "/").filter { $0.hasPrefix(":") }.map { String($0.dropFirst()) }
    }
}
