import Cordon
import CordonHTTPClient
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import CordonTerminal
import CordonVault
import Foundation
import Logging

/// The app: its accounts, its notes, and the protection around those that belong to an organisation.
actor NotesApp {
    let screen: Screen
    let input = TypedLines()
    let answers: Answers
    /// Whether a person is there to be asked.
    let asks: Bool
    let names = KnownNames()
    let home: URL
    let clipboard: FolderClipboard
    let printer: FolderPrinter
    /// Nil without a service: then there are only personal notes.
    let protection: AppProtection?
    let signIn: SignInClient?
    /// Signs the person in anew where the rules demand it.
    let freshSignIn: FreshSignIn?
    let discovery: ServiceDiscovery?
    /// The account of a shared device; nil where the account is this app's own.
    let shared: SharedDeviceMode?
    /// Who is on the shared device, as far as this app knows.
    var deviceAccount = DeviceAccount.unknown
    /// What ends with the session of a shared device; nil where the account is this app's own.
    let sessionKeys: SharedDeviceKeyStore?
    /// Whether the protection was made without the key of the session in force, so that what is stored has to be opened by a check-in.
    var keysCameLate = false
    /// Whether a sign-in of this app waits for the person.
    var isSigningIn = false
    private let leaving = LeavingDesk()
    let logConsent: LogConsent
    /// The window in front.
    var window = WindowID.main
    /// The windows that were ever in front.
    var windows: Set<WindowID> = [.main]
    /// Whose notes a window was to show, and does not, because the account's launch conditions are not met.
    var heldBack: [WindowID: AccountID] = [:]
    private var inTouch: [AccountID: Task<Void, Never>] = [:]

    init(options: FieldNotes, screen: Screen, transport: AsyncHTTPTransport) async throws {
        self.screen = screen
        answers = Answers(input: input, screen: screen)
        asks = options.hasSomebodyToAsk
        let consent = LogConsent(screen)
        logConsent = consent
        home = URL(filePath: options.home, directoryHint: .isDirectory)
        clipboard = FolderClipboard(
            folder: options.clipboard.map { URL(filePath: $0) } ?? home.appending(path: "clipboard"))
        printer = FolderPrinter(
            folder: options.printer.map { URL(filePath: $0) } ?? home.appending(path: "printed"))
        do { try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true) } catch {
            throw Problem(
                "\(String(options.home.prefix(200))) cannot be the app's folder",
                hint: "Choose another place with --home."
            )
        }
        guard let (service, rootKey) = options.trustedService else {
            (protection, signIn, freshSignIn, discovery, shared, sessionKeys) = (nil, nil, nil, nil, nil, nil)
            return
        }
        let folder = home.appending(path: "protected")
        let deviceKeys = FileKeyStore(directory: home.appending(path: "keys"))
        let sessionKeys = options.broker.map { _ in SharedDeviceKeyStore(device: deviceKeys) }
        let keyStore = (sessionKeys as (any KeyStore)?) ?? deviceKeys
        let counter = try FileStateCounter(directory: options.counterFolder)
        let memory = try ServiceMemory(
            dataDirectory: folder, bundleID: options.bundleID, keyStore: keyStore, stateCounter: counter)
        let discovery = try await Self.discover(service, over: transport, rememberedIn: memory)
        let signIn = try SignInClient(
            configuration: SignInConfiguration(issuer: discovery.issuer.absoluteString, clientID: "fieldnotes"),
            transport: transport,
            cache: TokenCache(
                directory: home.appending(path: "tokens"),
                secrets: FileSecretStore(directory: home.appending(path: "secrets"))))
        let desk = leaving
        let shared = try options.broker.map { socket in
            try SharedDeviceMode(socket: socket, clientID: "fieldnotes", isDevelopment: options.development) {
                try await desk.cleanUp($0)
            }
        }
        let freshSignIn = FreshSignIn(signIn, shared: shared, discovery: discovery, screen: screen, input: input)
        let log = try ProtectionLog(dataDirectory: folder)
        var configuration = ProtectionConfiguration(
            application: ApplicationFacts(bundleID: options.bundleID, version: "1.0"),
            device: DeviceDescription(osVersion: "1.0", model: "terminal", name: options.deviceName),
            service: service, rootKey: rootKey, dataDirectory: folder,
            keyStore: keyStore, transport: transport,
            sessions: (shared as (any AccountSessions)?) ?? signIn,
            logger: Logger(label: "fieldnotes") { log.handler($0) })
        configuration.logFile = log
        configuration.identityDelegate = WindowDesk(screen: screen, names: names)
        configuration.deviceFacts = { [rooted = options.rooted] _ in
            var facts = DeviceFacts()
            facts.rooted = rooted
            // The person at the terminal has signed in to the machine.
            facts.devicePINSet = true
            return facts
        }
        if asks {
            configuration.interface = TerminalInterface(
                read: { [answers] in await answers.next(isHidden: $0) },
                write: { screen.tell("protection", .line(Self.withoutDot($0)), ["text": .string($0)]) },
                signIn: { await freshSignIn.answer(for: $0.account) })
        }
        configuration.confirmLogUpload = { await consent.ask($0, $1) }
        configuration.stateCounter = counter
        configuration.language = "en"
        configuration.allowsSeveralIdentities = !options.single
        configuration.restartApplication = { _ in false }
        configuration.wipeHook = { [clipboard] account in
            do { return try await clipboard.clear(of: account.id) ? .removed : .leftToCordon } catch {
                return .failed("the clipboard could not be cleared")
            }
        }
        if options.step { configuration.wipeObserver = Self.waitForLine(from: input, on: screen) }
        let hasKeys = await Self.open(sessionKeys, on: shared)
        protection = try await AppProtection(configuration)
        self.signIn = signIn
        self.freshSignIn = freshSignIn
        self.discovery = discovery
        self.shared = shared
        self.sessionKeys = sessionKeys
        keysCameLate = !hasKeys
    }

    /// A line of Cordon's without the dot that it may begin with: the screen begins each of its lines with one.
    private static func withoutDot(_ line: String) -> String { line.hasPrefix("• ") ? String(line.dropFirst(2)) : line }

    /// Reads commands until the input ends.
    func run() async {
        try? await announceAccounts()
        let events = Task { await self.followEvents() }
        let life = Task { await self.protection?.keepUp() }
        let revocations = Task { await self.deliverRevocations() }
        await leaving.open(for: self)
        let following = shared.map { device in Task { await self.follow(device) } }
        for account in await enrolledAccounts() { stayInTouch(account.id) }
        screen.tell("ready", "Type `help` for what there is.")
        await prompt()
        while let line = await input.nextCommand() {
            if !line.isEmpty {
                do {
                    let command = try TypedCommand(reading: line)
                    if command == .quit { break }
                    try await carryOut(command)
                } catch {
                    // A person's own notes are always open, and there are none on a shared device.
                    let isSomethingOpen = shared == nil || current.account != nil
                    screen.refuse(
                        TypedCommand.word(of: line) ?? line, Self.problem(error, isSomethingOpen: isSomethingOpen))
                }
            }
            await prompt()
        }
        events.cancel()
        life.cancel()
        revocations.cancel()
        following?.cancel()
        for task in inTouch.values { task.cancel() }
    }

    /// Tells the provider, once it answers, of accounts that signed out without a network. The next sign-in would, but there may be none.
    private func deliverRevocations() async {
        guard let signIn else { return }
        while !Task.isCancelled {
            // What cannot be read or removed now is tried again like the rest.
            _ = try? await signIn.deliverRevocations()
            try? await Task.sleep(for: .seconds(60))
        }
    }

    /// Keeps an open line to the service for an account while the app runs, and closes its gate when a limit passes.
    func stayInTouch(_ account: AccountID) {
        guard let protection, inTouch[account] == nil else { return }
        inTouch[account] = Task {
            async let watching: Void = protection.gate.watch(account)
            await protection.stayInTouch(for: account)
            await watching
            // One that was cancelled has been let go of already, and the account may have a new one.
            if !Task.isCancelled { inTouch[account] = nil }
        }
    }

    /// No longer keeps a line open for an account.
    func loseTouch(_ account: AccountID) {
        inTouch.removeValue(forKey: account)?.cancel()
    }

    /// Whose notes are on the screen, for programs: an id, or `personal`; on a shared device an empty text for no one's.
    var currentID: String { current.account?.rawValue ?? (shared == nil ? "personal" : "") }

    /// The accounts that are enrolled here. Their names are known from then on.
    func enrolledAccounts() async -> [ManagedAccount] {
        let accounts = protection?.enrolledAccounts ?? []
        await names.learn(accounts)
        return accounts
    }

    /// Whose notes are on the screen, for the person.
    func currentName() async -> String {
        guard let account = current.account else { return shared == nil ? "personal" : deviceAccount.words }
        return await names.name(of: account)
    }

    /// Asks for the next command; says whose notes are on the screen, and whose were to be and are closed.
    func prompt() async {
        var who = await currentName()
        if let account = heldBack[window] { who += " (\(await names.name(of: account)) is closed)" }
        screen.prompt(who)
    }

    /// Any error in the words that the person sees.
    ///
    /// - Parameter isSomethingOpen: Whether the person has notes to go on with.
    static func problem(_ error: any Error, isSomethingOpen: Bool = false) -> Problem {
        switch error {
        case let problem as Problem: problem
        case let error as ProtectionError: Problem(error)
        case let error as SignInError: Problem(error, isSomethingOpen: isSomethingOpen)
        default: Problem("\(error.localizedDescription)")
        }
    }

    /// Asks the service about itself; without a network, what it said last time will do.
    private static func discover(
        _ service: URL, over transport: AsyncHTTPTransport, rememberedIn memory: ServiceMemory
    ) async throws -> ServiceDiscovery {
        do throws(ProtectionError) {
            return try await AppProtection.discover(service, over: transport, rememberedIn: memory)
        } catch {
            // Cordon gives the usual hint where no answer came at all.
            let isSilent = error.hint == ProtectionError(.serviceUnusable, "").hint
            let what = isSilent ? "no service answers" : "no service can be used"
            throw Problem(
                "\(what) at \(service.absoluteString): \(error.reason)",
                hint: isSilent
                    ? "Check the address. Where none runs, start one with `cordon serve`. An app that knows its service needs no answer."
                    : error.hint)
        }
    }

    private static func waitForLine(from input: TypedLines, on screen: Screen) -> @Sendable (String) -> Void {
        { step in
            input.waitForOne(after: {
                screen.tell("wipe-step", "\(step); press Enter", ["step": .string(step)])
            })
        }
    }
}
