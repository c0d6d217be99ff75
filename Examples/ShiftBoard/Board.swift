import Cordon
import CordonIdentity
import CordonSignIn
import CordonVault
import Foundation

/// The app: who has the shift, and the remarks of that shift.
actor Board {
    private let device: SharedDeviceMode
    private let output: Output
    private let home: URL
    private let deviceKey: FileKeyStore
    /// What a sign-in asks for, beside who it is.
    private let request: SignInRequest
    /// The remarks of the session in force; nil while no one is signed in or an answer is awaited (SI-041).
    private var remarks: Remarks?
    /// What is on the screen; nothing of an earlier session may stay there (SI-066).
    private var screen: [String] = []

    init(options: ShiftBoard, output: Output) throws {
        let home = URL(filePath: options.home, directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        self.home = home
        self.output = output
        request = SignInRequest(scopes: options.scope, resource: options.resource)
        deviceKey = FileKeyStore(directory: home.appending(path: "keys"))
        let gate = options.step ? StepGate(folder: home) : nil
        device = try SharedDeviceMode(
            socket: options.socket, clientID: options.clientID, isDevelopment: options.development
        ) { cleanUp in
            await gate?.wait(before: "work-stopped", output)
            await cleanUp.workStopped()
            await gate?.wait(before: "data-cleared", output)
            try Remarks.remove(upToSession: cleanUp.session, below: home)
            await cleanUp.dataCleared()
            await gate?.wait(before: "done", output)
            output.tell(
                "cleanedUp",
                [
                    "account": cleanUp.account.rawValue, "session": "\(cleanUp.session)",
                    "reason": cleanUp.reason?.rawValue ?? "",
                ])
        }
    }

    /// Follows the device's account: the worker who left leaves nothing on the screen, the next finds an empty board.
    func follow() async {
        for await now in device.accountChanges() {
            if remarks?.isOf(now) != true { hide() }
            output.tell(
                "account", ["current": now.current?.id.rawValue ?? "", "session": "\(now.session)"],
                saying: Self.words(for: now))
        }
    }

    /// Carries out a typed line.
    func carryOut(_ line: String) async {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        let command = words.first ?? ""
        do {
            switch command {
            case "help":
                output.answer(command, ["commands": "account, sign-in, cancel, post TEXT, show, sign-out, quit"])
            case "account": try await tellAccount()
            case "look": try await look()
            case "sign-in": try await signIn()
            case "post": try await post(words.dropFirst().first ?? "")
            case "show":
                screen = try await open().all()
                output.answer(command, ["text": screen.joined(separator: "\n")])
            case "token": try await takeToken(words.dropFirst().first ?? "")
            case "sign-out": try await signOut()
            default:
                throw SignInError(.configuration, .invalidParameter, "there is no such command", hint: "Type `help`.")
            }
        } catch {
            output.refuse(command, error)
        }
    }

    private func hide() {
        remarks = nil
        screen = []
    }

    /// Asks who is here and cleans up first, as at launch and at every return to the front.
    private func tellAccount() async throws {
        let now = try await ask()
        output.answer("account", facts(of: now), saying: Self.words(for: now))
    }

    /// Who has the shift, for the person.
    private static func words(for now: CurrentAccount) -> String {
        guard let account = now.current else { return "no one has the shift; type `sign-in`" }
        return "\(account.userPrincipalName) has the shift"
    }

    /// Who is here, after the clean-up for the person who left; without an answer nothing stays on the screen (SI-041).
    private func ask() async throws -> CurrentAccount {
        do { return try await device.refresh() } catch {
            hide()
            throw error
        }
    }

    /// Asks who is here and changes nothing: what a test wants to see.
    private func look() async throws {
        output.answer("look", facts(of: try await device.currentAccount()))
    }

    private func facts(of now: CurrentAccount) -> [String: String] {
        [
            "current": now.current?.id.rawValue ?? "", "name": now.current?.userPrincipalName ?? "",
            "previous": now.previous?.rawValue ?? "", "change": now.change.rawValue, "session": "\(now.session)",
            "owed": now.owed.map { "\($0.session)" }.joined(separator: " "),
        ]
    }

    /// A worker who signs in is at work at once: no first-run screens, no list of accounts, no second step (SI-160).
    private func signIn() async throws {
        let output = output
        let result = try await device.signIn(
            request,
            browser: .opening { page in
                output.tell(
                    "browser", ["page": page.absoluteString, "minutes": "10"],
                    saying: "open \(page.absoluteString) in a browser; this waits ten minutes, and `cancel` ends it")
            })
        screen = try await open().all()
        output.answer(
            "sign-in",
            [
                "account": result.account.id.rawValue, "session": "\(result.session)",
                "text": screen.joined(separator: "\n"),
            ], saying: (["\(result.account.userPrincipalName) has the shift"] + screen).joined(separator: "\n"))
    }

    private func post(_ text: String) async throws {
        guard !text.isEmpty else {
            throw SignInError(
                .configuration, .invalidParameter, "there is no text to post",
                hint: "Type `post` and what is to stand there.")
        }
        try await open().add(text)
        output.answer("post", ["text": text])
    }

    /// For tests of the broker: takes a token and shows only that it is one.
    private func takeToken(_ resource: String) async throws {
        guard let account = try await device.currentAccount().current else {
            throw SignInError(.interactionRequired, .accountRequired, "no person is signed in")
        }
        let token = try await device.accessToken(
            for: account.id, resource: resource.isEmpty ? nil : resource, scopes: [], options: TokenOptions())
        output.answer("token", ["bound": "\(token.isBound)"])
    }

    private func signOut() async throws {
        hide()
        let report = try await device.signOut()
        output.answer(
            "sign-out",
            [
                "keyDestroyed": "\(report.keyDestroyed)",
                "apps": report.apps.map { "\($0.clientID)=\($0.outcome.rawValue)" }.joined(separator: " "),
                "session": "\(report.session)",
            ],
            saying: report.keyDestroyed
                ? "signed out everywhere on this device"
                : "signed out everywhere, but this device's disk does not let go of the key: tell an administrator")
    }

    /// The remarks of the session in force; the broker is asked each time, so nothing stale is ever shown.
    private func open() async throws -> Remarks {
        let now = try await ask()
        guard let account = now.current else {
            hide()
            throw SignInError(.interactionRequired, .accountRequired, "no one has the shift", hint: "Type `sign-in`.")
        }
        if let remarks, remarks.isOf(now) { return remarks }
        let key = try await device.sessionKey(for: account.id)
        let opened = try Remarks(
            account: account.id, session: Remarks.Session(now), below: home,
            keys: SessionKeyStore(device: deviceKey, sessionKey: key))
        remarks = opened
        return opened
    }
}
