/// A line that the person typed, taken apart.
enum TypedCommand: Equatable {
    case help, accounts, checkIn, notes, paste, status, wipe, signOut, quit, configuration, diagnostics, ledger
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

    /// Reads a line; nil when it is no command.
    init?(_ line: String) {
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
        case ("background", let count?, nil): self = .background(Int(count) ?? 1)
        case ("wipe", nil, nil): self = .wipe
        case ("sign-out", nil, nil): self = .signOut
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

    /// The command's own word, for answers.
    var word: String {
        switch self {
        case .help: "help"
        case .accounts: "accounts"
        case .signIn: "sign-in"
        case .remediate: "remediate"
        case .checkIn: "check-in"
        case .configuration: "config"
        case .diagnostics: "diagnostics"
        case .ledger: "ledger"
        case .logs: "logs"
        case .window: "window"
        case .browse: "browse"
        case .everyone: "everyone"
        case .save: "save"
        case .openFrom: "open"
        case .background: "background"
        case .notes: "notes"
        case .paste: "paste"
        case .status: "status"
        case .receive: "receive"
        case .wipe: "wipe"
        case .signOut: "sign-out"
        case .quit: "quit"
        case .use: "use"
        case .note: "note"
        case .show: "show"
        case .copy: "copy"
        case .print: "print"
        case .share: "share"
        case .importFile: "import"
        case .export: "export"
        }
    }

    static let summary = """
        accounts                 who is signed in; `use personal` or `use NAME` changes whose notes these are
        sign-in, sign-in code    signs an organisation's account in, in a browser here or anywhere, and enrols it
        note TITLE TEXT          writes a note          notes, show TITLE        reads them
        copy TITLE, paste        the clipboard          print TITLE              prints
        import FILE              takes a file in        export TITLE FOLDER      saves a copy
        share TITLE INBOX        hands it to another app's inbox; `receive [FOLDER]` takes what is in this app's
        save TITLE PLACE         saves to a cloud or local place    open FILE PLACE    opens from one;
                                 `PLACE of ACCOUNT` is somebody else's
        window NAME              goes to another window, with notes of its own on it
        browse LINK              opens a link, in the managed browser where the rules say so
        everyone                 a page with everybody's notes; `everyone print`, `copy` or `save` takes it out
        background COUNT         writes notes from so many tasks at once
        remediate                signs in an account whose token was refused for want of protection
        config, diagnostics      what administrators assigned; what a support desk asks for
        logs show, yes or no     what an administrator asked this app for, and the answer
        ledger                   every word of telemetry that this app ever sent
        status, check-in         the rules in force     wipe, sign-out           removes the organisation's data
        quit
        """
}
