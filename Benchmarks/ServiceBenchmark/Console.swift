import CordonBase
import CordonConsole
import CordonDevelopmentProvider
import CordonGraph
import CordonHTTPClient
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonServiceHTTP
import CordonServiceSQLite
import CordonSignIn
import Foundation
import HTTPTypes
import Logging

/// What each page of the console costs with many registrations in SQLite, found by following links from the overview: its
/// rows, its bytes, the records that it reads, and the time to its first byte beside that of as many bytes of no content.
struct Console {
    /// What no page may be above.
    private enum Most {
        static let (rows, bytes, reads, times) = (100, 100_000, 1_500, 5.0)
    }

    /// Pages that read the whole log because they are asked to.
    private static let whole = ["/console/audit/verify"]
    /// Files to download.
    private static let files = ["/export", "/data"]
    private static let (wipes, flagged, blocked) = (2_000, 500, 50)
    private static let bare = "/idp/bare"

    /// A page as it was measured.
    private struct Row {
        var page: String
        var rows: Int
        var bytes: Int
        var reads: Int
        var time: Double
        /// Milliseconds to the last byte.
        var whole: Double
        var bare: Double

        var misses: [String] {
            var misses: [String] = []
            if rows > Most.rows { misses.append("\(rows) rows, goal \(Most.rows)") }
            if bytes > Most.bytes { misses.append("\(bytes) bytes, goal \(Most.bytes)") }
            if reads > Most.reads { misses.append("\(reads) records read, goal \(Most.reads)") }
            if time > Most.times * bare {
                misses.append(String(format: "first byte %.1f × a bare page's, goal %.0f", time / bare, Most.times))
            }
            return misses
        }
    }

    private let base: URL
    private let reads: ConsoleReads
    private let transport: AsyncHTTPTransport
    private let cookies = Locked<[String: String]>([:])

    /// `console 100000 [FOLDER [PAGE]]`: measures at this number of registrations; a folder that stays keeps the store. With a page, only
    /// that one is measured, many times, for a look with a profiler.
    static func measure(_ arguments: ArraySlice<String>) async throws -> Bool {
        let kept = arguments.dropFirst().first.map { URL(filePath: $0) }
        let folder =
            kept ?? FileManager.default.temporaryDirectory.appending(path: "cordon-console-\(UUID().uuidString)")
        defer { if kept == nil { try? FileManager.default.removeItem(at: folder) } }
        return try await measure(
            arguments.first.flatMap { Int($0) } ?? 100_000, in: folder.appending(path: "console"),
            page: arguments.dropFirst(2).first)
    }

    /// Measures every page, prints each with its goals; whether all are met.
    private static func measure(_ registrations: Int, in folder: URL, page: String?) async throws -> Bool {
        let store = GrowthStore(registrations: registrations, in: folder)
        try await store.fill()
        let storage = try SQLiteStorage(file: store.file)
        let reads = ConsoleReads(storage)
        let logger = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
        var rules = ServiceConfiguration()
        rules.wipeBudget = .max
        rules.announcementsPerSecond = 1_000_000
        rules.registrationLifetime = .seconds(4_000 * 86_400)
        let service = ManagementService(
            storage: reads, keyStore: try FileServiceKeyStore(folder: store.folder.appending(path: "keys")),
            configuration: rules, logger: logger)
        try await service.open(ServiceProcess.tenant)
        try await furnish(store, service)
        var directory = DevelopmentDirectory(tenantID: ServiceProcess.tenant.rawValue)
        _ = try directory.addPerson(
            userPrincipalName: "ada@contoso.example", displayName: "Ada", password: password, roles: ["owner"])
        var configuration = ServiceServerConfiguration(tenant: ServiceProcess.tenant)
        configuration.limits = .development
        let server = try ServiceServer(
            development: configuration, service: service,
            provider: try provider(directory, configuration),
            extensions: [.graph, .console(ConsoleConfiguration(clientID: ConsoleConfiguration.developmentClient))],
            logger: logger)
        let (addresses, told) = AsyncStream.makeStream(of: URL.self)
        let transport = AsyncHTTPTransport()
        let rows = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { told.finish() }
                try await server.run { told.yield($0.base) }
            }
            guard let base = await addresses.first(where: { _ in true }) else { throw CocoaError(.fileReadUnknown) }
            let console = Console(base: base, reads: reads, transport: transport)
            try await console.signIn()
            let rows =
                if let page {
                    [try await console.measure(page, console.follow(console.ask(.get, page)), times: 2_000)]
                } else {
                    try await console.everyPage(of: registrations)
                }
            await server.shutDown()
            group.cancelAll()
            return rows
        }
        await transport.shutdown()
        try storage.close()
        return say(rows, registrations)
    }

    private init(base: URL, reads: ConsoleReads, transport: AsyncHTTPTransport) {
        self.base = base
        self.reads = reads
        self.transport = transport
    }

    private static func say(_ rows: [Row], _ registrations: Int) -> Bool {
        print(
            """
            Pages of the console with \(registrations) registrations. Goals: \(Most.rows) rows, \(Most.bytes) bytes, \
            \(Most.reads) records read, first byte at most \(Int(Most.times)) times that of as many bytes of no content.

            | page | rows | bytes | records | first byte, ms | bare, ms | times | last byte, ms | |
            | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |
            """)
        for row in rows {
            print(
                "| \(row.page) | \(row.rows) | \(row.bytes) | \(row.reads) | "
                    + String(format: "%.2f | %.2f | %.1f | %.1f", row.time, row.bare, row.time / row.bare, row.whole)
                    + " | \(row.misses.isEmpty ? "met" : "MISSED: " + row.misses.joined(separator: "; ")) |")
        }
        let missed = rows.count { !$0.misses.isEmpty }
        print("\(rows.count) pages, \(missed) of them miss a goal.")
        return missed == 0 && !rows.isEmpty
    }

    // MARK: The store

    /// Makes wipes, flagged devices, blocked people, and a change that no app has taken yet, once.
    private static func furnish(_ store: GrowthStore, _ service: ManagementService) async throws {
        let mark = store.folder.appending(path: "furnished")
        guard !FileManager.default.fileExists(atPath: mark.path) else { return }
        let owner = Administrator(tenant: ServiceProcess.tenant, id: "owner", name: "Owner", roles: [.owner])
        let key = try store.deviceKey()
        for number in 0..<min(flagged, store.registrations) {
            let applied = try await service.administration.registration(GrowthStore.id(number), as: owner).lastEnvelope
            _ = try await service.devices.checkIn(
                CheckInRequest(
                    appliedSequence: applied?.sequence ?? 0, appliedVersion: applied?.version,
                    appliedDigest: applied?.digest, application: GrowthStore.application,
                    device: GrowthStore.device(number), health: [.rootedDevice], clientTime: Date(), nonce: "n"),
                registration: GrowthStore.id(number),
                by: DeviceCaller(account: GrowthStore.account(number), key: key.publicKey))
        }
        for number in 0..<min(wipes, store.registrations) {
            let person = GrowthStore.person(store.registrations - 1 - number)
            if number < blocked {
                try await service.administration.blockUser(person, as: owner)
            } else {
                _ = try await service.administration.requestWipe(
                    ofUser: person, deviceTag: GrowthStore.device(store.registrations - 1 - number).tag, as: owner)
            }
        }
        let policies = try await service.administration.policies(of: [.iosManagedAppProtection], as: owner)
        for policy in policies {
            _ = try await service.administration.updatePolicy(
                policy.id, changes: ["description": "changed for everyone", "contactSyncBlocked": true],
                ifVersion: nil, as: owner)
        }
        try await service.finishAnnouncing(of: ServiceProcess.tenant)
        try await service.performMaintenance(of: ServiceProcess.tenant)
        _ = try await service.checkCounts(of: ServiceProcess.tenant)
        try Data().write(to: mark)
    }

    // MARK: The browser

    private static let password = "correct horse battery staple"

    /// The provider for development, which also answers pages of no content.
    private static func provider(
        _ directory: DevelopmentDirectory, _ configuration: ServiceServerConfiguration
    ) throws -> EmbeddedProvider {
        guard let issuer = URL(string: "http://127.0.0.1/idp") else { throw CocoaError(.fileReadUnknown) }
        let provider = try DevelopmentIdentityProvider(
            directory: directory,
            configuration: .development(
                checkIn: configuration.checkInAudience, admin: configuration.mainAdministrationAudience),
            issuer: issuer)
        return EmbeddedProvider(
            path: DevelopmentIdentityProvider.path, routes: DevelopmentIdentityProvider.routes + [(.get, bare)],
            largestBody: DevelopmentIdentityProvider.largestBody, start: { await provider.answer(at: $0) },
            answer: { request, body in
                guard let path = request.path, path.hasPrefix(bare + "?") else {
                    return await provider.answer(request, body: body)
                }
                var head = HTTPResponse(status: .ok)
                head.headerFields[.contentType] = "text/html; charset=utf-8"
                return (head, Data(repeating: UInt8(ascii: "x"), count: Int(path.dropFirst(bare.count + 1)) ?? 0))
            },
            answerToken: { await provider.answerToken($0, body: $1, at: $2) },
            endSessions: { await provider.revokeGrants(ofPerson: $0) })
    }

    private struct Shown {
        var status: HTTPResponse.Status
        var location: String?
        var isPage: Bool
        var text: String
        /// Milliseconds from the request to the first byte of the answer, and to the last.
        var time: Double
        var whole: Double
    }

    private func ask(_ method: HTTPRequest.Method, _ address: String, _ form: String? = nil) async throws -> Shown {
        guard let url = URL(string: address, relativeTo: base)?.absoluteURL else { throw CocoaError(.fileReadUnknown) }
        var request = HTTPRequest(method: method, url: url)
        request.headerFields[.cookie] = cookies.withLock { $0.map { "\($0.key)=\($0.value)" }.joined(separator: "; ") }
        if form != nil { request.headerFields[.contentType] = "application/x-www-form-urlencoded" }
        let began = ContinuousClock.now
        guard let form else {
            let answer = try await transport.stream(request, timeout: .seconds(60))
            let time = began.duration(to: .now) / .milliseconds(1)
            var bytes = Data()
            for try await piece in answer.body { bytes += piece }
            return keep(answer.head, bytes, time, began.duration(to: .now) / .milliseconds(1))
        }
        let answer = try await transport.send(request, body: Data(form.utf8), limit: 1 << 20, timeout: .seconds(60))
        let time = began.duration(to: .now) / .milliseconds(1)
        return keep(answer.head, answer.body, time, time)
    }

    private func keep(_ head: HTTPResponse, _ body: Data, _ time: Double, _ whole: Double) -> Shown {
        for cookie in head.headerFields[values: .setCookie] {
            let pair = cookie.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
            guard let name = pair.first else { continue }
            let value = pair.count > 1 ? pair[1] : ""
            cookies.withLock { $0[name] = cookie.contains("Max-Age=0") ? nil : value }
        }
        return Shown(
            status: head.status, location: head.headerFields[.location],
            isPage: head.headerFields[.contentType]?.hasPrefix("text/html") ?? false,
            text: String(decoding: body, as: UTF8.self), time: time, whole: whole)
    }

    /// Follows redirects to a page.
    private func follow(_ shown: Shown) async throws -> Shown {
        var shown = shown
        for _ in 0..<12 {
            guard let location = shown.location else { return shown }
            shown = try await ask(.get, location)
        }
        return shown
    }

    private func signIn() async throws {
        let page = try await follow(ask(.get, "/console"))
        var form: [(key: String, value: String)] = [
            ("username", "ada@contoso.example"), ("password", Self.password), ("action", "sign-in"),
        ]
        for field in page.text.matches(of: /type="hidden" name="([^"]*)" value="([^"]*)"/) {
            form.append((String(field.1), String(field.2)))
        }
        let entered = try await follow(ask(.post, "/idp/sign-in", FormEncoding.encode(form)))
        guard entered.status == .ok, entered.text.contains("/console/sign-out") else {
            throw CocoaError(.userActivityConnectionUnavailable)
        }
    }

    // MARK: The pages

    /// Pages that forms lead to rather than links.
    private static func searches(_ registrations: Int) -> [String] {
        let person = GrowthStore.person(registrations / 2)
        return [
            "/console", "/console/people?search=\(person)", "/console/people/\(person)/unblock",
            "/console/ask?person=\(person)&action=print&peer=unmanaged", "/console/policies?search=few",
            "/console/audit?days=365&what=wipe", "/console/reports/drift?search=t-0", "/console/blocked",
            "/console/people/\(GrowthStore.person(3))/rules?app=\(ServiceProcess.bundleID)",
            "/console/wipes?state=failed", "/console/wipes?user=\(GrowthStore.person(registrations - 100))",
        ]
    }

    /// Measures one page of each kind.
    private func everyPage(of registrations: Int) async throws -> [Row] {
        var (waiting, seen, rows): ([String], Set<String>, [Row]) = (Self.searches(registrations), [], [])
        while !waiting.isEmpty {
            let address = waiting.removeFirst()
            guard seen.insert(Self.kind(of: address)).inserted else { continue }
            let shown = try await follow(ask(.get, address))
            guard shown.status == .ok, shown.isPage else {
                // A page that cannot be shown is no page that is fast.
                rows.append(
                    Row(
                        page: "\(address): \(shown.status)", rows: 0, bytes: 0, reads: .max, time: 0, whole: 0, bare: 0)
                )
                continue
            }
            rows.append(try await measure(address, shown))
            waiting += shown.text.matches(of: /href="(\/console[^"#]*)"/)
                .map { String($0.1).replacing("&amp;", with: "&") }.filter(Self.isPage)
        }
        return rows.sorted { $0.page < $1.page }
    }

    private static func isPage(_ address: String) -> Bool {
        let path = String(address.prefix { $0 != "?" })
        return !files.contains(where: path.hasSuffix) && !address.contains("format=")
            && !["/console/assets", "/console/sign-in", "/console/sign-out"].contains(where: path.hasPrefix)
    }

    /// What pages of one kind have in common: their path without keys, and what they are asked with.
    private static func kind(of address: String) -> String {
        let parts = address.split(separator: "?", maxSplits: 1)
        let path = (parts.first ?? "").split(separator: "/").map { part in
            part.contains { $0.isNumber || $0 == "%" || $0 == "_" } ? ":" : String(part)
        }
        let names = parts.dropFirst().first?.split(separator: "&").map { $0.prefix { $0 != "=" } }.sorted() ?? []
        return "/" + path.joined(separator: "/") + (names.isEmpty ? "" : "?" + names.joined(separator: "&"))
    }

    private func measure(_ address: String, _ shown: Shown, times repetitions: Int = 15) async throws -> Row {
        let bytes = shown.text.utf8.count
        _ = reads.take()
        _ = try await follow(ask(.get, address))
        let read = reads.take()
        var (times, wholes, bares): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<repetitions {
            let asked = try await ask(.get, address)
            times.append(asked.time)
            wholes.append(asked.whole)
            bares.append(try await ask(.get, Self.bare + "?\(bytes)").time)
        }
        let isWhole = Self.whole.contains(address)
        return Row(
            page: Self.kind(of: address) + (isWhole ? " (the whole log, not bounded)" : ""),
            rows: shown.text.ranges(of: "<tr><td").count, bytes: bytes, reads: isWhole ? 0 : read,
            time: isWhole ? 0 : times.sorted()[times.count / 2], whole: wholes.sorted()[wholes.count / 2],
            bare: bares.sorted()[bares.count / 2])
    }
}
