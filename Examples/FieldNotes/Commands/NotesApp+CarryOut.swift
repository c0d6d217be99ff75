import Cordon
import CordonIdentity
import CordonPolicy
import Foundation

extension NotesApp {
    /// Carries a command out and answers it.
    func carryOut(_ command: TypedCommand) async throws {
        try await requireSomebody(for: command)
        switch command {
        case .help: screen.answer("help", .prose(TypedCommand.summary))
        case .accounts: try await listAccounts()
        case .use(let who): try await use(who)
        case .signIn(let withCode): try await signInAndEnroll(withCode: withCode)
        case .checkIn: try await checkIn()
        case .status: try await status()
        case .note(let title, let text): try await note(text, as: title)
        case .notes: try await list()
        case .show(let title): try await show(title)
        case .importFile(let path): try await importFile(path)
        case .copy(let title): try await copy(title)
        case .paste: try await paste()
        case .print(let title): try await print(title)
        case .export(let title, let folder): try await export(title, to: folder)
        case .share(let title, let inbox): try await share(title, with: inbox)
        case .receive(let folder): try await receive(from: folder)
        case .save(let title, let place): try await save(title, at: place)
        case .openFrom(let file, let place): try await open(file, from: place)
        case .browse(let link): try await browse(link)
        case .window(let name): await show(window: name)
        case .everyone(let what): try await everyone(what)
        case .background(let count): try await writeInBackground(count)
        case .remediate: try await remediate()
        case .configuration: try configuration()
        case .diagnostics: try await diagnostics()
        case .ledger: try await ledger()
        case .logs(let answer): try await answerLogRequest(answer)
        case .wipe(let removal): try await wipe(removal)
        case .signOut(let removal): try await signOut(removal)
        case .quit: break
        }
    }

    var notebook: Notebook { Notebook(owner: current, protection: protection, home: home) }

    /// The protection, or why there is none.
    func protected() throws -> AppProtection {
        guard let protection else { throw Problem("this app was started without a service", hint: "Give --service.") }
        return protection
    }

    /// The organisation's account on the screen, or the one that was to be, or what to do.
    func currentAccount() throws -> AccountID {
        if let account = heldBack[window] { return account }
        guard case .managed(let account) = current else {
            throw Problem("personal notes have no organisation", hint: "Type `use` with an account's name.")
        }
        return account
    }

    /// What administrators set for the account on the screen; nil where none can.
    var preferences: Preferences? {
        guard let protection, case .managed(let account) = current else { return nil }
        return Preferences(protection.rules.appConfiguration(of: account))
    }

    func write(_ contents: Data, as title: String, answering command: String) async throws {
        try await notebook.write(contents, as: title)
        screen.answer(command, "written", ["title": .string(title), "bytes": .integer(Int64(contents.count))])
    }

    /// Writes what the person typed, unless administrators of the account set otherwise.
    private func note(_ text: String, as title: String) async throws {
        if let objection = preferences?.objection(toLength: text.count) { throw objection }
        try await write(Data(text.utf8), as: title, answering: "note")
    }

    private func list() async throws {
        let titles = try await notebook.titles()
        screen.answer("notes", .lines(titles), ["titles": .array(titles.map { .string($0) })])
    }

    private func show(_ title: String) async throws {
        let text = String(decoding: try await notebook.read(title), as: UTF8.self)
        screen.answer("show", .prose(text), ["title": .string(title), "text": .string(text)])
    }

    /// The contents of a file that the person named.
    func contents(of path: String) throws -> Data {
        guard URL(filePath: path).isRegularFile, let contents = FileManager.default.contents(atPath: path) else {
            throw Problem("\(path) cannot be read")
        }
        return contents
    }

    /// Takes a file in from storage that other apps can reach: the rules of its receiver decide.
    private func importFile(_ path: String) async throws {
        var question = Question(.openFrom, owner: EffectiveIdentity(current))
        question.location = .other
        let decision = protection?.decision(for: question)
        if let decision, !decision.verdict.permits { throw ProtectionError(denied: decision) }
        try await write(try contents(of: path), as: URL(filePath: path).lastPathComponent, answering: "import")
    }
}
