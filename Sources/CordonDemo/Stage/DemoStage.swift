public import CordonHTTPClient
public import CordonProtocol
public import Foundation

/// The service, the administrator and the apps of a demo or an end-to-end test, in one folder that they have to themselves.
public actor DemoStage {
    /// The tool `cordon`.
    public nonisolated let cordon: URL
    /// The example app.
    public nonisolated let app: URL
    /// Where everything is kept.
    public nonisolated let folder: URL
    /// How the stage itself reaches the service.
    public nonisolated let transport = AsyncHTTPTransport()
    /// The bundle id under which the example app is targeted.
    public static let bundleID = "example.cordon.fieldnotes"

    private var service: ServiceProcess?
    private var administratorSession: Administrator?
    private var apps: [AppSession] = []
    private var brokerProcess: BrokerProcess?

    /// Sets a stage; nothing runs yet.
    public init(cordon: URL, app: URL, folder: URL) {
        self.cordon = cordon
        self.app = app
        self.folder = folder
    }

    /// The folder of the service's data.
    public nonisolated var serviceFolder: URL { folder.appending(path: "service") }

    /// The folder of an app's data.
    public nonisolated func home(of name: String) -> URL { folder.appending(path: name) }

    /// The folder that stands for the device's clipboard.
    public nonisolated var clipboard: URL { folder.appending(path: "clipboard") }

    /// The running service; started at first use.
    public func runningService(port: Int = 0) async throws(ProgramError) -> ServiceProcess {
        if let service { return service }
        let started = try await ServiceProcess.start(cordon, folder: serviceFolder, port: port)
        service = started
        return started
    }

    /// Kills the service without warning.
    public func killService() async {
        guard let service else { return }
        self.service = nil
        service.process.signal(SIGKILL)
        _ = await service.process.wait()
    }

    /// The administrator, signed in at first use.
    public func administrator() async throws(ProgramError) -> Administrator {
        if let administratorSession { return administratorSession }
        let service = try await runningService()
        let (name, password) = try person { $0.hasPrefix("ada@") }
        let administrator = try await Administrator(
            name: name, password: password, service: service, folder: folder.appending(path: "administrator"),
            transport: transport)
        administratorSession = administrator
        return administrator
    }

    /// The administrator, signed in again: the embedded provider forgets its sessions when it is killed.
    public func administratorAgain() async throws(ProgramError) -> Administrator {
        administratorSession = nil
        return try await administrator()
    }

    /// A worker's name and password in the development directory.
    public nonisolated func worker(_ letter: Character = "a") throws(ProgramError) -> (name: String, password: String) {
        try person { $0.hasPrefix("worker-\(letter)@") }
    }

    /// The administrator's name and password in the development directory.
    public nonisolated func administratorsPassword() throws(ProgramError) -> (name: String, password: String) {
        try person { $0.hasPrefix("ada@") }
    }

    /// The folder of the shared device's broker.
    public nonisolated var brokerFolder: URL { folder.appending(path: "device") }

    /// The shared device's broker; started at first use.
    public func broker(issuer: String, options: [String] = []) async throws(ProgramError) -> BrokerProcess {
        if let brokerProcess { return brokerProcess }
        let started = try await BrokerProcess.start(
            cordon, folder: brokerFolder, issuer: issuer, options: options)
        brokerProcess = started
        return started
    }

    /// Kills the broker without warning.
    public func killBroker() async {
        guard let brokerProcess else { return }
        self.brokerProcess = nil
        brokerProcess.process.signal(SIGKILL)
        _ = await brokerProcess.process.wait()
    }

    /// Starts the example app of a shared device, which lies beside the other one, and waits until it is ready.
    public func sharedApp(
        _ name: String, at broker: BrokerProcess, _ options: [String] = []
    ) async throws(ProgramError) -> AppSession {
        let board = cordon.deletingLastPathComponent().appending(path: "ShiftBoard")
        let session = try AppSession(
            board,
            ["--home", home(of: name).path, "--socket", broker.socket, "--client-id", name, "--development"] + options)
        apps.append(session)
        _ = try await session.event("ready")
        return session
    }

    private nonisolated func person(_ isMeant: (String) -> Bool) throws(ProgramError) -> (
        name: String, password: String
    ) {
        guard let found = try ServiceProcess.passwords(in: serviceFolder).first(where: { isMeant($0.key) }) else {
            throw ProgramError.stage("the development directory lacks a person that the stage needs")
        }
        return (found.key, found.value)
    }

    /// Starts an example app that knows the service, and waits until it is ready.
    ///
    /// - Parameters:
    ///   - known: A service that need not run any more; nil for the running one.
    ///   - launcher: A program with its arguments that starts the app; none for the app itself.
    public func managedApp(
        _ name: String, _ options: [String] = [], knowing known: ServiceProcess? = nil, by launcher: [String] = []
    ) async throws(ProgramError) -> AppSession {
        var service = known
        if service == nil { service = try await runningService() }
        guard let service else { throw ProgramError.stage("there is no service") }
        return try await start(
            [
                "--home", home(of: name).path, "--clipboard", clipboard.path, "--printer",
                folder.appending(path: "paper").path, "--counters",
                folder.appending(path: "counters-" + name).path, "--service",
                service.address.absoluteString,
                "--root-key=" + service.rootKey, "--bundle-id", Self.bundleID,
            ] + options, by: launcher)
    }

    /// Starts an example app that knows no service: what any other app on the device would see.
    public func personalApp(_ name: String) async throws(ProgramError) -> AppSession {
        try await start(["--home", home(of: name).path, "--clipboard", clipboard.path])
    }

    private func start(_ arguments: [String], by launcher: [String] = []) async throws(ProgramError) -> AppSession {
        let command = launcher + [app.path] + arguments
        let session = try AppSession(URL(filePath: command[0]), Array(command.dropFirst()))
        apps.append(session)
        _ = try await session.event("ready")
        return session
    }

    /// Signs a worker in in an app, as the person in front of it would; the app's answer.
    ///
    /// - Parameters:
    ///   - withCode: Whether the person types a code into a browser elsewhere, instead of using the app's own.
    ///   - command: Another command of the app that signs a person in; nil for its usual one.
    @discardableResult
    public func signIn(
        _ worker: (name: String, password: String), in app: AppSession, withCode: Bool = false,
        typing command: String? = nil
    ) async throws(ProgramError) -> AppSession.Answer {
        let person = Person(name: worker.name, password: worker.password)
        let transport = self.transport
        let event = withCode ? "verification" : "browser"
        let answer = Task { await Self.answer(of: app, to: command ?? (withCode ? "sign-in code" : "sign-in")) }
        // An app waits long for a browser, so a visit that fails must not wait for the app.
        try await Self.outcome(of: person, waitingFor: event, in: app, over: transport).get()
        return try await answer.value.get()
    }

    private static func answer(of app: AppSession, to command: String) async -> Result<AppSession.Answer, ProgramError>
    {
        do { return .success(try await app.ask(command)) } catch { return .failure(error) }
    }

    private static func outcome(
        of person: Person, waitingFor event: String, in app: AppSession, over transport: AsyncHTTPTransport
    ) async -> Result<Void, ProgramError> {
        do throws(ProgramError) {
            let browser = try await app.event(event)
            guard let page = browser["page"].flatMap({ URL(string: $0) }) else {
                throw ProgramError.stage("the app shows no page")
            }
            try await person.visit(page, over: transport)
            return .success(())
        } catch { return .failure(error) }
    }

    /// Ends every process; nothing of the stage runs afterwards.
    public func strike() async {
        for app in apps { await app.end() }
        apps = []
        await brokerProcess?.process.end()
        brokerProcess = nil
        BrokerProcess.removeRunFolder(of: brokerFolder)
        if let service { await service.process.end() }
        service = nil
        administratorSession = nil
        await transport.shutdown()
    }
}
