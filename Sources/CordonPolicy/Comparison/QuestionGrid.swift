internal import CordonIdentity

/// One question of every kind, with words for it: enough to show what a changed policy means to people.
enum QuestionGrid {
    struct Entry: Sendable {
        /// Whose data it is.
        let account: String
        /// What is done.
        let subject: String
        /// The other side; nil where there is none.
        let side: String?
        let question: Question
    }

    /// The questions by which policies differ, those about the schemes and links that some of them list among them.
    static func all(for policies: [AppProtectionPolicy]) -> [Entry] {
        let rules = policies.map(\.transfer)
        let links = Set(rules.flatMap { $0.exemptUniversalLinks.union($0.managedUniversalLinks) })
        let scheme = UnlistedText.word("unlisted-app", notIn: Set(rules.flatMap(\.exemptSchemes)))
        let letter = UnlistedText.letter(notIn: links)
        return owners.flatMap { name, owner in
            alone(name, owner) + transfers(name, owner) + places(name, owner)
                + self.links(name, owner, scheme: scheme, universal: "https://\(letter)/\(letter)")
        } + listed(by: rules, letter)
    }

    static let account = AccountID("work-account")
    private static let owners: [(String, EffectiveIdentity)] = [
        ("work account", .managed(account)), ("personal account", .personal),
    ]

    private static func alone(_ name: String, _ owner: EffectiveIdentity) -> [Entry] {
        let actions: [(Action, String)] = [
            (.share, "sharing"), (.webExtension, "handing data to a web extension"), (.print, "printing"),
            (.notify, "showing notifications"), (.siriIntent, "using Siri"), (.appIntent, "using shortcuts"),
            (.syncContacts, "copying contacts into the address book"),
            (.indexSpotlight, "finding data by the system's search"), (.showWidget, "showing data in widgets"),
            (.captureScreen, "capturing the screen"), (.backUp, "backing data up"),
            (.useKeyboard, "using another maker's keyboard"), (.encryptFile, "writing files unencrypted"),
            (.useGenmoji, "inserting image glyphs"), (.useWritingTools, "using the system's writing tools"),
        ]
        return actions.map { Entry(account: name, subject: $1, side: nil, question: Question($0, owner: owner)) }
    }

    private static func transfers(_ name: String, _ owner: EffectiveIdentity) -> [Entry] {
        let isWork = owner.account != nil
        let peers: [(String, Peer)] = [
            (isWork ? "a managed app with the same account" : "the work account", .managed(account)),
            ("a managed app with another work account", .managed(AccountID("other-work-account"))),
            ("a managed app with a personal account", .personal), ("an app that is not managed", .unmanagedApp),
        ]
        let actions: [(Action, String, String)] = [
            (.send, "sending", "to"), (.receive, "taking data", "from"), (.copy, "copying text", "to"),
            (.paste, "pasting text", "from"),
        ]
        return actions.flatMap { action, subject, word in
            peers.map { peer in
                var question = Question(action, owner: owner)
                question.peer = peer.1
                return Entry(account: name, subject: "\(subject) \(word)", side: peer.0, question: question)
            }
        }
    }

    private static func places(_ name: String, _ owner: EffectiveIdentity) -> [Entry] {
        [(Action.saveTo, "saving copies to", \Location.saveNumber), (.openFrom, "opening data from", \.openNumber)]
            .flatMap { action, subject, number in
                Location.allCases.filter { $0[keyPath: number] != nil }.map { location in
                    var question = Question(action, owner: owner)
                    question.location = location
                    if !location.belongsToNobody { question.locationAccount = owner.account }
                    return Entry(account: name, subject: subject, side: location.name, question: question)
                }
            }
    }

    private static func links(
        _ name: String, _ owner: EffectiveIdentity, scheme: String, universal: String
    ) -> [Entry] {
        let links: [(String, String)] = [
            ("web links", "https://example.com"), ("telephone numbers", "tel:100"), ("text messages", "sms:100"),
            ("mail links", "mailto:ada@example.test"), ("links of apps that no list names", scheme + ":open"),
        ]
        return links.map { side, url in link(name, owner, .openURL, side, url) }
            + [link(name, owner, .openUniversalLink, "universal links", universal)]
    }

    private static func link(
        _ name: String, _ owner: EffectiveIdentity, _ action: Action, _ side: String, _ url: String,
        by peer: Peer? = nil
    ) -> Entry {
        var question = Question(action, owner: owner)
        (question.url, question.peer) = (url, peer)
        return Entry(account: name, subject: "opening", side: side, question: question)
    }

    /// Questions about the schemes and links that policies list, and none of the others does.
    private static func listed(by rules: [DataTransferRules], _ letter: String) -> [Entry] {
        func listed(_ lists: [Set<String>]) -> [String] {
            lists.reduce(Set<String>()) { $0.union($1) }.filter { name in !lists.allSatisfy { $0.contains(name) } }
                .sorted()
        }
        let owner = EffectiveIdentity.managed(account)
        let schemes = listed(rules.map(\.exemptSchemes)).filter { !["http", "https", "tel", "sms"].contains($0) }
        let links = listed(rules.map(\.exemptUniversalLinks)) + listed(rules.map(\.managedUniversalLinks))
        return schemes.map { link("work account", owner, .openURL, "\($0): links", "\($0):open") }
            + Set(links).sorted().map { pattern in
                link(
                    "work account", owner, .openUniversalLink, "\(pattern) in an app that is not managed",
                    pattern.replacing("*", with: letter), by: .unmanagedApp)
            }
    }
}
