/// The actions of Cordon's questions, by the names that `Question` takes.
struct ActionSet: OptionSet, Hashable {
    let rawValue: UInt32

    /// Every action, for a guard of which it is not known what it asks.
    static let any = ActionSet(rawValue: .max)

    /// The actions in the order of their bits: the cases of `Action` in CordonPolicy.
    static let names = [
        "saveTo", "openFrom", "share", "appClip", "webExtension", "receiveItem", "send", "receive", "copy", "paste",
        "print",
        "openURL", "openUniversalLink", "notify", "siriIntent", "appIntent", "syncContacts", "indexSpotlight",
        "showWidget",
        "captureScreen", "backUp", "useKeyboard", "webUpload", "webPaste", "encryptFile", "useGenmoji",
        "useWritingTools",
    ]

    /// Each action by the number of its name.
    static let byHash: [UInt64: ActionSet] = Dictionary(
        uniqueKeysWithValues: names.enumerated().map { (Word.hash($1), ActionSet(rawValue: 1 << UInt32($0))) })

    /// The set of named actions; a name that there is not adds nothing.
    init(_ names: String...) {
        self = names.reduce(into: []) { $0.formUnion(Self.byHash[Word.hash($1)] ?? []) }
    }

    init(rawValue: UInt32) { self.rawValue = rawValue }
}
