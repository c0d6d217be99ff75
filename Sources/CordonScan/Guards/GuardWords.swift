/// The names of Cordon's API that ask, and what they ask.
enum GuardWords {
    /// Throw where the answer is no: the code behind them runs with leave.
    static let throwing: [UInt64: ActionSet] = [
        Word.hash("permit"): [],
        Word.hash("copyPermit"): ActionSet("copy"),
        Word.hash("linkPermit"): ActionSet("openURL", "openUniversalLink"),
        Word.hash("openInPermit"): ActionSet("send", "share"),
        whenAllowed: [],
    ]

    /// Runs a closure with leave, and throws otherwise.
    static let whenAllowed = Word.hash("whenAllowed")
    /// Leaves of several things those that may go.
    static let only = Word.hash("only")

    /// Give a decision or a verdict, which has to be looked at.
    static let deciding: [UInt64: Value] = [Word.hash("decision"): .decision, Word.hash("verdict"): .verdict]

    /// Give a truth.
    static let truths: [UInt64: ActionSet] = [
        Word.hash("isContactSyncAllowed"): ActionSet("syncContacts"),
        Word.hash("isSpotlightIndexingAllowed"): ActionSet("indexSpotlight"),
        Word.hash("isWidgetContentSyncAllowed"): ActionSet("showWidget"),
        Word.hash("isScreenCaptureAllowed"): ActionSet("captureScreen"),
        Word.hash("isDocumentPickerAllowed"): ActionSet("saveTo", "openFrom"),
        Word.hash("mustFileProviderEncrypt"): ActionSet("encryptFile"),
    ]

    /// What stands for a yes in a comparison with a verdict.
    static let yes = WayCatalogue.hashes("allow", "warn")
    /// The verdicts that let something out.
    static let leaves = yes.union(WayCatalogue.hashes("restrict"))
    static let permits = Word.hash("permits")
    static let verdict = Word.hash("verdict")
    static let question = Word.hash("Question")
    static let questionOf = Word.hash("question")
    static let permitButton = Word.hash("PermitButton")
    /// Questions that are made by their own names, and what each asks.
    static let typed: [UInt64: ActionSet] = [
        Word.hash("save"): ActionSet("saveTo"), Word.hash("open"): ActionSet("openFrom"),
        Word.hash("send"): ActionSet("send"),
        Word.hash("receive"): ActionSet("receive"), Word.hash("copy"): ActionSet("copy"),
        Word.hash("receiveItem"): ActionSet("receiveItem"), Word.hash("may"): [],
    ]
    static let permitType = Word.hash("EgressPermit")
    /// What stands before the type of a parameter.
    static let beforePermit = WayCatalogue.hashes(":", "consuming", "borrowing", "sending", "__owned")
    static let protect = Word.hash("protect")

    /// Cordon's protocols of ways out; only a call with a permit reaches their methods.
    static let outlets: [UInt64: (methods: Set<UInt64>, actions: ActionSet)] = [
        Word.hash("Clipboard"): (WayCatalogue.hashes("write", "read"), ActionSet("copy", "paste")),
        Word.hash("Printer"): (WayCatalogue.hashes("print"), ActionSet("print")),
        Word.hash("SavePlace"): (WayCatalogue.hashes("save"), ActionSet("saveTo")),
        Word.hash("LinkOpener"): (WayCatalogue.hashes("open"), ActionSet("openURL", "openUniversalLink")),
        Word.hash("ReceivingApp"): (WayCatalogue.hashes("deliver"), ActionSet("send", "share")),
    ]

    /// What the name of a value stands for.
    enum Value {
        /// An answer with reasons; `.verdict` is in it.
        case decision
        /// An answer in one word; `.permits` is in it.
        case verdict
        /// A truth, or a permit that may be missing.
        case truth
        /// A permit, taken with `try`.
        case permit
    }
}
