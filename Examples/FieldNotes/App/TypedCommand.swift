/// A line that the person typed, taken apart.
enum TypedCommand: Equatable {
    case help, accounts, checkIn, notes, paste, status, quit, configuration, diagnostics, ledger
    case wipe(Removal)
    case signOut(Removal)
    case receive(String?)
    case logs(LogAnswer)
    case window(String)
    case browse(String)
    case everyone(String?)
    case save(String, place: String)
    case openFrom(String, place: String)
    case background(Int)
    case use(String)
    case signIn(withCode: Bool)
    case remediate
    case note(title: String, text: String)
    case show(String)
    case copy(String)
    case print(String)
    case share(String, inbox: String)
    case importFile(String)
    case export(String, folder: String)

    /// What the person says to a request for logs.
    enum LogAnswer: String { case yes, no, show }

    /// Whose data is to go, and whether the person has agreed in the same line.
    struct Removal: Equatable {
        /// A name or an id; nil means the account on the screen.
        var account: String?
        var isConfirmed = false

        /// Reads `[ACCOUNT] [yes]`; nil when it is neither.
        init?(_ first: String?, _ second: String?) {
            switch (first, second) {
            case (nil, nil): break
            case ("yes"?, nil): isConfirmed = true
            case (let who?, nil): account = who
            case (let who?, "yes"?): (account, isConfirmed) = (who, true)
            default: return nil
            }
        }
    }

    /// Whether it reads, writes or hands on notes.
    var concernsNotes: Bool {
        switch self {
        case .notes, .paste, .receive, .everyone, .save, .openFrom, .background, .note, .show, .copy, .print, .share,
            .importFile, .export:
            true
        default: false
        }
    }

    /// How many notes `background` writes at most.
    static let mostInBackground = 1_000

    /// Reads a line.
    ///
    /// - Throws: ``Problem`` that says how the command is typed, or that it is unknown.
    init(reading line: String) throws(Problem) {
        if let command = TypedCommand(line) {
            self = command
        } else if let word = Self.word(of: line), let usage = Self.usages[word] {
            throw Problem("`\(word)` cannot be used like that", hint: "Type `\(usage)`.")
        } else {
            throw Problem("there is no such command", hint: "Type `help`.")
        }
    }

    /// The command that a line begins with, whatever follows; nil when it is not a command.
    static func word(of line: String) -> String? {
        let word = line.split(separator: " ", maxSplits: 1).first.map(String.init) ?? ""
        return usages[word] == nil ? nil : word
    }

    private init?(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true).map(String.init)
        switch (words.first, words.dropFirst().first, words.dropFirst(2).first) {
        case ("help", nil, nil): self = .help
        case ("accounts", nil, nil): self = .accounts
        case ("sign-in", nil, nil): self = .signIn(withCode: false)
        case ("sign-in", "code"?, nil): self = .signIn(withCode: true)
        case ("remediate", nil, nil): self = .remediate
        case ("check-in", nil, nil): self = .checkIn
        case ("notes", nil, nil): self = .notes
        case ("paste", nil, nil): self = .paste
        case ("status", nil, nil): self = .status
        case ("receive", let folder, nil): self = .receive(folder)
        case ("config", nil, nil): self = .configuration
        case ("diagnostics", nil, nil): self = .diagnostics
        case ("ledger", nil, nil): self = .ledger
        case ("logs", let answer?, nil):
            guard let answer = LogAnswer(rawValue: answer) else { return nil }
            self = .logs(answer)
        case ("window", let name?, nil): self = .window(name)
        case ("browse", let link?, nil): self = .browse(link)
        case ("everyone", let what, nil): self = .everyone(what)
        case ("save", let title?, let place?): self = .save(title, place: place)
        case ("open", let file?, let place?): self = .openFrom(file, place: place)
        case ("background", let count?, nil):
            guard let count = Int(count), (1...Self.mostInBackground).contains(count) else { return nil }
            self = .background(count)
        case ("wipe", let first, let second):
            guard let removal = Removal(first, second) else { return nil }
            self = .wipe(removal)
        case ("sign-out", let first, let second):
            guard let removal = Removal(first, second) else { return nil }
            self = .signOut(removal)
        case ("quit", nil, nil): self = .quit
        case ("use", let who?, nil): self = .use(who)
        case ("note", let title?, let text?): self = .note(title: title, text: text)
        case ("show", let title?, nil): self = .show(title)
        case ("copy", let title?, nil): self = .copy(title)
        case ("print", let title?, nil): self = .print(title)
        case ("import", let path?, nil): self = .importFile(path)
        case ("share", let title?, let inbox?): self = .share(title, inbox: inbox)
        case ("export", let title?, let folder?): self = .export(title, folder: folder)
        default: return nil
        }
    }

    /// How each command is typed.
    private static let usages = [
        "help": "help", "accounts": "accounts", "use": "use personal` or `use NAME",
        "sign-in": "sign-in` or `sign-in code", "remediate": "remediate", "check-in": "check-in", "status": "status",
        "note": "note TITLE TEXT", "notes": "notes", "show": "show TITLE", "copy": "copy TITLE", "paste": "paste",
        "print": "print TITLE", "import": "import FILE", "export": "export TITLE FOLDER",
        "share": "share TITLE INBOX", "receive": "receive` or `receive FOLDER", "save": "save TITLE PLACE",
        "open": "open FILE PLACE", "window": "window NAME", "browse": "browse LINK",
        "everyone": "everyone`, `everyone print`, `everyone copy` or `everyone save",
        "background": "background COUNT` with a count from 1 to \(mostInBackground), such as `background 10",
        "config": "config", "diagnostics": "diagnostics", "ledger": "ledger",
        "logs": "logs show`, `logs yes` or `logs no", "wipe": "wipe` or `wipe NAME",
        "sign-out": "sign-out` or `sign-out NAME", "quit": "quit",
    ]

    static let summary = """
        accounts                 who is signed in; `use personal` or `use NAME` changes whose notes these are
        sign-in, sign-in code    signs an organisation's account in, in a browser here or anywhere, and enrols it
        note TITLE TEXT          writes a note          notes, show TITLE        reads them
        copy TITLE, paste        the clipboard          print TITLE              prints
        import FILE              takes a file in        export TITLE FOLDER      saves a copy
        share TITLE INBOX        hands it to another app's inbox; `receive [FOLDER]` takes what is in this app's.
                                 Inboxes are folders here; what a file in one says of its app and owner proves nothing
        save TITLE PLACE         saves to a cloud or local place    open FILE PLACE    opens from one;
                                 `PLACE of ACCOUNT` is another account's
        window NAME              goes to another window, which shows notes of its own
        browse LINK              opens a link, in the managed browser where the rules say so
        everyone                 a page with all accounts' notes; `everyone print`, `copy` or `save` takes it out
        background COUNT         writes notes from that many tasks at once
        remediate                signs in an account whose token was refused because it is not protected yet
        config, diagnostics      what administrators assigned; what a support desk asks for
        logs show, yes or no     what an administrator asked this app for, and the answer
        ledger                   the telemetry that this app sent, or tried to send
        status, check-in         the rules in force
        wipe, sign-out           removes an organisation's account and its data, after asking; your own notes stay.
                                 `wipe NAME` means another account; `wipe yes` and `wipe NAME yes` do not ask
        quit
        """
}
