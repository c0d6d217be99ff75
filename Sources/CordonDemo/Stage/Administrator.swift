internal import CordonIdentity
public import CordonPolicy
public import CordonProtocol
public import CordonSignIn
public import Foundation
internal import HTTPTypes

/// An administrator with a script: signs in as an administrator and uses the Graph-shaped routes.
public actor Administrator {
    private let service: URL
    private let transport: any HTTPTransport
    private let token: AccessToken

    /// Signs in through the provider's own pages.
    ///
    /// - Throws: ``ProgramError`` when the sign-in does not succeed.
    public init(
        name: String, password: String, service: ServiceProcess, folder: URL, transport: any HTTPTransport
    ) async throws(ProgramError) {
        self.service = service.address
        self.transport = transport
        guard let issuer = service.announcement["issuer"]?.string else {
            throw ProgramError.stage("the service names no issuer")
        }
        let person = Person(name: name, password: password)
        do {
            var configuration = SignInConfiguration(issuer: issuer, clientID: "cordon-cli")
            // As the scripts do that administrators have: they cannot send proofs (SRV-OP-022).
            configuration.proofOfPossession = .never
            let client = try SignInClient(
                configuration: configuration, transport: transport,
                cache: TokenCache(directory: folder, secrets: MemorySecretStore()))
            let request = SignInRequest(
                scopes: ["DeviceManagementApps.ReadWrite.All"], resource: "https://graph.microsoft.com")
            let visit = VisitTask()
            let result = try await client.signIn(
                request,
                browser: .opening { page in
                    await visit.start { try await person.visit(page, over: transport) }
                })
            try await visit.finish()
            token = result.accessToken
        } catch let error as ProgramError {
            throw error
        } catch {
            throw ProgramError.stage("\(name) could not sign in: \(error)")
        }
    }

    /// Makes a policy from Graph JSON, aims it at an app and a group; its id.
    public func publish(
        _ policy: JSONValue, app bundleID: String, group: String
    ) async throws(ProgramError) -> String {
        try await make(policy, in: "iosManagedAppProtections", app: bundleID, group: group)
    }

    /// Assigns key-values to an app and a group; the configuration's id.
    public func configure(
        _ values: [String: JSONValue], app bundleID: String, group: String
    ) async throws(ProgramError) -> String {
        let pairs = values.sorted { $0.key < $1.key }.map { name, value in
            JSONValue.object(["name": .string(name), "value": value])
        }
        return try await make(
            .object(["displayName": .string("Configuration"), "customSettings": .array(pairs)]),
            in: "targetedManagedAppConfigurations", app: bundleID, group: group)
    }

    /// Takes an assigned configuration away.
    public func removeConfiguration(_ id: String) async throws(ProgramError) {
        try await call(.delete, "v1.0/deviceAppManagement/targetedManagedAppConfigurations/\(id)")
    }

    private func make(
        _ document: JSONValue, in collection: String, app bundleID: String, group: String
    ) async throws(ProgramError) -> String {
        let made = try await call(.post, "v1.0/deviceAppManagement/\(collection)", document)
        guard let id = made["id"]?.string else { throw ProgramError.stage("the service made a policy without an id") }
        let path = "v1.0/deviceAppManagement/\(collection)/\(id)"
        let app: JSONValue = .object([
            "mobileAppIdentifier": .object([
                "@odata.type": .string("#microsoft.graph.iosMobileAppIdentifier"), "bundleId": .string(bundleID),
            ])
        ])
        try await call(.post, path + "/targetApps", .object(["apps": .array([app])]))
        let target: JSONValue = .object([
            "target": .object([
                "@odata.type": .string("#microsoft.graph.groupAssignmentTarget"), "groupId": .string(group),
            ])
        ])
        try await call(.post, path + "/assign", .object(["assignments": .array([target])]))
        return id
    }

    /// Changes some properties of a policy.
    public func change(_ policy: String, _ properties: JSONValue) async throws(ProgramError) {
        try await call(.patch, "v1.0/deviceAppManagement/iosManagedAppProtections/\(policy)", properties)
    }

    /// A policy as the service keeps it.
    public func policy(_ id: String) async throws(ProgramError) -> JSONValue {
        try await call(.get, "v1.0/deviceAppManagement/iosManagedAppProtections/\(id)")
    }

    /// Every policy that the service keeps.
    public func policies() async throws(ProgramError) -> [JSONValue] {
        try await call(.get, "v1.0/deviceAppManagement/iosManagedAppProtections")["value"]?.array ?? []
    }

    /// A group that a person belongs to; its id.
    public func group(of person: String) async throws(ProgramError) -> String {
        let groups = try await call(.get, "v1.0/users/\(person)/memberOf")["value"]?.array ?? []
        guard let id = groups.first?["id"]?.string else { throw ProgramError.stage("\(person) belongs to no group") }
        return id
    }

    /// The app instances that are registered.
    public func registrations() async throws(ProgramError) -> [JSONValue] {
        try await call(.get, "v1.0/deviceAppManagement/managedAppRegistrations")["value"]?.array ?? []
    }

    /// Asks for a wipe of one person's apps on one device.
    public func wipe(user: String, deviceTag: String) async throws(ProgramError) {
        try await call(
            .post, "v1.0/users/\(user)/wipeManagedAppRegistrationsByDeviceTag",
            .object(["deviceTag": .string(deviceTag)]))
    }

    /// The wipes of a registration.
    public func operations(of registration: String) async throws(ProgramError) -> [JSONValue] {
        let path = "v1.0/deviceAppManagement/managedAppRegistrations/\(registration)/operations"
        return try await call(.get, path)["value"]?.array ?? []
    }

    /// Ends a person's sessions.
    public func revokeSessions(of user: String) async throws(ProgramError) {
        try await call(.post, "v1.0/users/\(user)/revokeSignInSessions")
    }

    /// The audit log as exported, JSON Lines.
    public func auditLog() async throws(ProgramError) -> Data {
        try await send(.get, "admin/v1/audit", nil)
    }

    /// Asks an app for its logs; the request's id.
    public func requestLogs(of registration: String) async throws(ProgramError) -> String {
        let made = try await call(.post, "admin/v1/registrations/\(registration)/logs")
        guard let id = made["id"]?.string else { throw ProgramError.stage("the service gave a request for logs no id") }
        return id
    }

    /// The logs that an app sent.
    public func logs(_ request: String) async throws(ProgramError) -> Data {
        try await send(.get, "admin/v1/logs/\(request)", nil)
    }

    /// Changes what the service asks of every app.
    public func changeSettings(_ members: [String: JSONValue]) async throws(ProgramError) {
        let now = try await call(.get, "admin/v1/settings").object ?? [:]
        try await call(.put, "admin/v1/settings", .object(now.merging(members) { $1 }))
    }

    /// Writes a role of the organisation's own.
    public func saveRole(_ id: String, _ role: JSONValue) async throws(ProgramError) {
        try await call(.put, "admin/v1/roles/\(id)", role)
    }

    /// A change that waits for a second person, or did.
    public func waitingChange(_ id: String) async throws(ProgramError) -> JSONValue {
        try await call(.get, "admin/v1/changes/\(id)")
    }

    /// The shared devices, with who is on each.
    public func sharedDevices() async throws(ProgramError) -> [JSONValue] {
        try await call(.get, "admin/v1/devices").array ?? []
    }

    /// Releases a shared device.
    public func releaseDevice(_ id: String) async throws(ProgramError) {
        try await call(.delete, "admin/v1/devices/\(id)")
    }

    @discardableResult
    private func call(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue? = nil
    ) async throws(ProgramError) -> JSONValue {
        let answer = try await send(method, path, body)
        guard !answer.isEmpty else { return .null }
        do { return try JSONValue(parsing: answer) } catch { throw ProgramError.stage("\(path) did not answer JSON") }
    }

    private func send(_ method: HTTPRequest.Method, _ path: String, _ body: JSONValue?) async throws(ProgramError)
        -> Data
    {
        var request = HTTPRequest(method: method, url: service.appending(path: path))
        request.headerFields[.authorization] = "Bearer \(token.text)"
        request.headerFields[.contentType] = body == nil ? nil : "application/json"
        let answer: HTTPAnswer
        do {
            answer = try await transport.send(
                request, body: body.map { Data($0.text().utf8) }, limit: 16 << 20, timeout: .seconds(30))
        } catch { throw ProgramError.stage("\(path): \(error.reason)") }
        guard answer.head.status.kind == .successful else {
            throw ProgramError.stage(
                "\(path) answered \(answer.head.status.code): \(String(decoding: answer.body, as: UTF8.self))")
        }
        return answer.body
    }
}

/// The visit of the sign-in page, which goes on while the client waits at its loopback listener.
private actor VisitTask {
    private var task: Task<Void, any Error>?

    func start(_ work: @escaping @Sendable () async throws -> Void) {
        task = Task { try await work() }
    }

    func finish() async throws {
        try await task?.value
    }
}
