/// Every verdict of one policy's rules that depends on a finite input, worked out once by those rules.
///
/// Plain numbers without references, so that reading one counts nothing and allocates nothing. What depends
/// on more (device facts, URLs, an outside evaluator) is not here: the rules themselves are asked.
struct VerdictTable: Sendable {
    /// Sixteen verdicts in one word; the value 15 means "ask the rules".
    struct Row: Sendable {
        private var word: UInt64 = .max

        subscript(index: Int) -> Verdict? {
            get {
                switch word >> UInt64(truncatingIfNeeded: index &* 4) & 15 {
                case 0: .allow
                case 1: .restrict
                case 2: .warn
                case 3: .block
                case 4: .wipe
                default: nil
                }
            }
            set {
                word &= ~(15 << UInt64(index * 4))
                word |= UInt64(newValue?.gravity ?? 15) << UInt64(index * 4)
            }
        }
    }

    /// By ``Action/position``, for actions that depend on nothing else; two rows of sixteen.
    var alone = (Row(), Row())
    /// By ``Location/position``: no account given for the place, the owner's own, another.
    var saving = (none: Row(), own: Row(), other: Row())
    /// As ``saving``, for opening.
    var opening = (none: Row(), own: Row(), other: Row())
    /// By ``Relation/position``, for what goes out.
    var outgoing = Row()
    /// By ``Relation/position``, for what comes in.
    var incoming = Row()
    /// By ``Relation/position``, for pasting.
    var pasting = Row()
    /// By ``Relation/position`` times three plus ``Length``, for copying.
    var copying = Row()
    /// By ``Viewer``, for uploading through a web view.
    var uploading = Row()
    /// By ``Viewer`` times three plus ``Length``, for pasting into a web view.
    var webPasting = Row()
    /// By ``LinkKind/position``: web links, and telephone numbers and messages by the app that would take them.
    var links = Row()
    /// What the policy says whatever is asked: `block` when it is damaged.
    var minimumVerdict = Verdict.allow
    /// Characters that may be copied anywhere.
    var copyLimit = 0
    /// Whether an outside evaluator is to be asked before data is shared.
    var asksEvaluator = false

    /// A copied text against the limit.
    enum Length: Int, CaseIterable {
        case unknown, within, beyond

        init(_ characters: Int?, limit: Int) {
            guard let characters else {
                self = .unknown
                return
            }
            self = characters >= 0 && characters <= limit ? .within : .beyond
        }
    }

    /// A web view as the rules see it.
    enum Viewer: Int, CaseIterable {
        case ofIdentity, unmanaged, withoutUploadAndPaste

        init(_ question: borrowing Question) {
            self =
                question.viewer == .currentIdentityWithoutUploadAndPaste
                ? .withoutUploadAndPaste : WebViewRules.isUnmanaged(question) ? .unmanaged : .ofIdentity
        }
    }
}

extension Relation {
    /// Where a row has the relation's verdict.
    var position: Int {
        switch self {
        case .sameAccount: 0
        case .otherAccount: 1
        case .unmanaged: 2
        case .exempt: 3
        case .unclear: 4
        }
    }
}

extension Action {
    /// Where the rows have the action's verdict.
    var position: Int {
        switch self {
        case .saveTo: 0
        case .openFrom: 1
        case .share: 2
        case .appClip: 3
        case .webExtension: 4
        case .receiveItem: 5
        case .send: 6
        case .receive: 7
        case .copy: 8
        case .paste: 9
        case .print: 10
        case .openURL: 11
        case .openUniversalLink: 12
        case .notify: 13
        case .siriIntent: 14
        case .appIntent: 15
        case .syncContacts: 16
        case .indexSpotlight: 17
        case .showWidget: 18
        case .captureScreen: 19
        case .backUp: 20
        case .useKeyboard: 21
        case .webUpload: 22
        case .webPaste: 23
        case .encryptFile: 24
        case .launch: 25
        case .useGenmoji: 26
        case .useWritingTools: 27
        }
    }
}

extension Location {
    /// Where a row has the verdict of a question that names no place.
    static let positionOfNone = 14

    /// Where a row has the place's verdict.
    var position: Int {
        switch self {
        case .oneDriveForBusiness: 0
        case .sharePoint: 1
        case .box: 2
        case .dropbox: 3
        case .googleDrive: 4
        case .localDrive: 5
        case .cameraRoll: 6
        case .accountDocument: 7
        case .iManage: 8
        case .egnyte: 9
        case .other: 10
        case .camera: 11
        case .localStorage: 12
        case .photos: 13
        }
    }
}
