internal import CordonIdentity

/// One question of every kind, with words for it: enough to show what a changed policy means to people.
enum QuestionGrid {
    struct Entry: Sendable {
        let words: String
        let question: Question
    }

    static let all: [Entry] = alone + transfers + places + links

    private static let account = AccountID("work-account")
    private static let owner = EffectiveIdentity.managed(account)

    private static let alone: [Entry] = [
        Action.share, .webExtension, .print, .notify, .siriIntent, .appIntent, .syncContacts, .indexSpotlight,
        .showWidget, .captureScreen, .backUp, .useKeyboard, .encryptFile, .useGenmoji, .useWritingTools,
    ].map { Entry(words: $0.rawValue, question: Question($0, owner: owner)) }

    private static let transfers: [Entry] = {
        let peers: [(String, Peer)] = [
            ("a managed app, same account", .managed(account)),
            ("a managed app, another work account", .managed(AccountID("other-work-account"))),
            ("a managed app, personal account", .personal),
            ("an unmanaged app", .unmanagedApp), ("an exempt app by skype:", .exemptApp),
        ]
        var entries: [Entry] = []
        for (name, peer) in peers {
            for (action, word) in [(Action.send, "to"), (.receive, "from"), (.copy, "to"), (.paste, "from")] {
                var question = Question(action, owner: owner)
                question.peer = peer
                if peer.app == .exempt { question.url = "skype:" }
                entries.append(Entry(words: "\(action.rawValue) \(word) \(name)", question: question))
            }
        }
        for (action, word) in [(Action.send, "to"), (.receive, "from"), (.copy, "to"), (.paste, "from")] {
            var question = Question(action, owner: .personal)
            question.peer = .managed(account)
            entries.append(
                Entry(words: "\(action.rawValue), personal account, \(word) the work account", question: question))
        }
        return entries
    }()

    private static let places: [Entry] = {
        var entries: [Entry] = []
        for location in Location.allCases {
            for (action, number) in [(Action.saveTo, location.saveNumber), (.openFrom, location.openNumber)]
            where number != nil {
                var question = Question(action, owner: owner)
                question.location = location
                if !location.belongsToNobody { question.locationAccount = account }
                entries.append(Entry(words: "\(action.rawValue) \(location.rawValue)", question: question))
            }
        }
        return entries
    }()

    private static let links: [Entry] = [
        (Action.openURL, "https://example.com"), (.openURL, "tel:100"), (.openURL, "sms:100"),
        (.openURL, "mailto:ada@example.test"), (.openURL, "unlisted-app:open"),
        (.openUniversalLink, "https://example.com"),
    ].map { action, url in
        var question = Question(action, owner: owner)
        question.url = url
        return Entry(words: "\(action.rawValue) \(url)", question: question)
    }
}
