import CordonIdentity
import CordonPolicy
import Foundation
import Testing

@Suite struct BadQuestionTests {
    static let unreadable = [
        #"1"#, #""x""#, #"null"#, #"{}"#, #"{"action": 5}"#, #"{"action": "fly"}"#,
        #"{"action": "print", "owner": "oid-a"}"#,
        #"{"action": "print", "owner": {}}"#, #"{"action": "print", "owner": {"account": "root"}}"#,
        #"{"action": "saveTo", "owner": {"account": "managed", "id": "a"}, "location": "moon"}"#,
        #"{"action": "print", "owner": {"account": "personal"}, "alsoOpen": [{"account": "lost"}]}"#,
        #"{"action": "print", "owner": {"account": "personal"}, "alsoOpen": [{"account": "unset"}]}"#,
        #"{"action": "send", "peer": {"app": "half"}}"#, #"{"action": "send", "peer": {"account": "managed"}}"#,
        #"{"action": "copy", "characters": -1}"#, #"{"action": "copy", "characters": 1e99}"#,
        #"{"action": "launch", "device": {"osVersion": "new"}}"#,
        #"{"action": "launch", "device": {"clockStatus": 9}}"#,
        #"{"action": "launch", "device": {"minutesSinceCheckIn": 1e300}}"#, #"{"action": "launch", "device": []}"#,
        #"{"action": "launch", "device": {"rooted": "no"}}"#,
        #"{"action": "launch", "device": {"failedPINAttempts": 1.5}}"#,
    ]

    @Test(arguments: unreadable) func `a question that cannot be read is denied with that reason`(text: String) throws {
        let set = PolicySet(AppProtectionPolicy(id: "p"))
        let answers = set.answers(
            to: .array([
                try JSONValue(parsing: Data(text.utf8)), ["action": "print", "owner": ["account": "unmanaged"]],
            ]))
        #expect(answers.map(\.verdict) == [.block, .allow], "one bad question never stops the others")
        #expect(answers[0].reasons.map(\.rule) == ["question.unreadable"])
    }

    /// Each misspelt, with the name that was meant.
    static let misspelt: [(text: String, meant: String)] = [
        (#"{"action": "saveT"}"#, "saveTo"), (#"{"action": "captureScren"}"#, "captureScreen"),
        (#"{"action": "saveTo", "locaton": "sharePoint"}"#, "location"),
        (#"{"action": "saveTo", "location": "sharepoint"}"#, "sharePoint"),
        (#"{"action": "print", "contentEvalution": "refused"}"#, "contentEvaluation"),
        (#"{"action": "print", "alsoOpn": []}"#, "alsoOpen"),
        (#"{"action": "print", "owner": {"acount": "unmanaged"}}"#, "account"),
        (#"{"action": "send", "peer": {"app": "managed", "bundleID": "x"}}"#, "bundleId"),
        (#"{"action": "launch", "device": {"devicePinSet": true}}"#, "devicePINSet"),
        (#"{"action": "launch", "device": {"minutesSinceCheckin": 5}}"#, "minutesSinceCheckIn"),
        (#"{"action": "launch", "device": {"threatLevel": "secure"}}"#, "secured"),
    ]

    @Test(arguments: misspelt) func `a misspelt name is refused, and the one that was meant is said`(
        text: String, meant: String
    ) throws {
        let set = PolicySet(AppProtectionPolicy(id: "p"))
        let answer = try #require(set.answers(to: JSONValue(parsing: Data(text.utf8))).first)
        #expect(answer.verdict == .block && answer.reasons.map(\.rule) == ["question.unreadable"])
        #expect(answer.summary.contains("did you mean \(meant)?"), "\(answer.summary)")
    }

    @Test func `a member of another version is left aside, and listed`() throws {
        let json: JSONValue = [
            "action": "print", "owner": ["account": "unmanaged", "since": 1], "remark": "x", "device": ["lidar": true],
            "alsoOpen": [["account": "unmanaged", "tab": 1], ["account": "unmanaged", "tab": 2]],
        ]
        #expect(PolicySet(AppProtectionPolicy(id: "p")).answers(to: json).map(\.verdict) == [.allow])
        #expect(Question.unknownMembers(of: json) == ["alsoOpen.tab", "device.lidar", "owner.since", "remark"])
    }

    @Test func `every action without any field is answered`() {
        let sets = [PolicySet(), PolicySet(.lockDown), PolicySet(AppProtectionPolicy(id: "p"))]
        for set in sets {
            for action in Action.allCases {
                for owner: EffectiveIdentity? in [nil, .managed("oid-a"), .managed(""), .personal, .unset, .lost] {
                    let question = Question(action, owner: owner)
                    #expect(set.decision(for: question).verdict == set.verdict(for: question), "\(action)")
                }
                #expect(set.verdict(for: Question(action, owner: nil)) == .block)
            }
        }
    }

    @Test func `a missing field is named`() {
        let set = PolicySet(.baseline(.level3))
        let owner = EffectiveIdentity.managed("oid-a")
        for (action, field) in [
            (Action.saveTo, "location"), (.send, "peer"), (.openURL, "url"), (.receiveItem, "loaded"),
            (.launch, "device.rooted"),
        ] {
            let reasons = set.decision(for: Question(action, owner: owner)).reasons
            #expect(reasons.contains { $0.rule == "question.incomplete" && $0.message.contains(field) }, "\(action)")
        }
    }

    @Test func `an unnamed account is no other account`() {
        var policy = AppProtectionPolicy(id: "p")
        policy.transfer.outbound = .managedApps
        var question = Question(.send, owner: .managed(""))
        question.peer = Peer(app: .managed, account: .managed(""))
        #expect(PolicySet(policy).verdict(for: question) == .block)
    }

    @Test func `lost work is denied only where something managed could be concerned`() {
        let question = Question(.print, owner: .lost)
        #expect(PolicySet().verdict(for: question) == .allow)
        #expect(PolicySet(AppProtectionPolicy()).verdict(for: question) == .block)
    }

    @Test func `a link that only looks excepted is not`() {
        var policy = AppProtectionPolicy(id: "p")
        policy.transfer.outbound = .managedApps
        policy.transfer.exemptUniversalLinks = [
            "https://*.example.com/public/*", "https://maps.example.com", "https://a.example/open",
            "https://*.whole.example",
        ]
        let set = PolicySet(policy)
        func verdict(_ url: String) -> Verdict {
            var question = Question(.openUniversalLink, owner: .managed("oid-a"))
            question.url = url
            return set.verdict(for: question)
        }
        for url in [
            "https://www.example.com/public/x", "HTTPS://Maps.Example.com:443/x?y", "https://a.example/open/1",
            "https://a.example/open/a%2Fb", "https://a.example/open/v1...v2", "https://maps.example.com/a/../b",
            "https://www.whole.example/a/../b", "https://www.whole.example",
        ] {
            #expect(verdict(url) == .allow, "\(url)")
        }
        for url in [
            "https://evil.test/.example.com/public/x", "https://evil.test?maps.example.com",
            "https://maps.example.com@evil.test/",
            "https://a.example/open/../secret", "https://a.example/opened", "http://maps.example.com/",
            "https://a.example/open/%2e%2e/x",
            "https://evil.test\\@maps.example.com/", "https://maps.example.com\\@evil.test/",
            "https://maps.example.com/\t/x", "https://www.example.com/public/../secret",
            "https://www.example.com/public/%2E%2e/secret", "https://www.example.com/public/x%2F../../secret",
            "https://a.example/open/x%2f..%2f..%2fsecret", "https://a.example/open/x%5C..%5c..%5csecret",
        ] {
            #expect(verdict(url) != .allow, "\(url)")
        }
    }

    @Test func `a link is compared without user, port, trailing dot, query and letter case, beyond ASCII too`() {
        var policy = AppProtectionPolicy(id: "p")
        policy.transfer.outbound = .managedApps
        policy.transfer.exemptUniversalLinks = [
            "https://Bücher.example", "https://shop.example/Über/uns/", "https://*.straße.example",
            "https://maps.example",
        ]
        let set = PolicySet(policy)
        func verdict(_ url: String) -> Verdict {
            var question = Question(.openUniversalLink, owner: .managed("oid-a"))
            question.url = url
            return set.verdict(for: question)
        }
        for url in [
            "https://bücher.example/x", "HTTPS://ada@BÜCHER.example.:8443?q", "https://shop.example/über/uns/hier",
            "https://www.Straße.example", "https://maps.example.:443#top", "https://a:b@maps.example/",
            "https://maps.example/\u{301}x", "https://maps.example:/",
        ] {
            #expect(verdict(url) == .allow, "\(url)")
        }
        for url in [
            "https://bucher.example/x", "https://shop.example/über/unser", "https://maps.example..",
            "https://straße.example.evil.test", "https://maps.exampleü", "https://:443", "https://", "maps.example",
            "https:/maps.example", "https://maps.example:80x/", "https://ü@/maps.example",
        ] {
            #expect(verdict(url) != .allow, "\(url)")
        }
    }

    @Test func `where data may go to or come from is told by the names that people know`() {
        var policy = AppProtectionPolicy(id: "p")
        (policy.transfer.outbound, policy.transfer.inbound) = (.managedApps, .managedApps)
        (policy.transfer.saveAsBlocked, policy.transfer.ingestionBlocked) = (true, true)
        policy.transfer.storageLocations = [.localStorage, .oneDriveForBusiness]
        policy.transfer.ingestionLocations = [.photoLibrary, .sharePoint]
        let set = PolicySet(policy)
        func remedies(_ action: Action, _ location: Location) -> [String] {
            var question = Question(action, owner: .managed("oid-a"))
            question.location = location
            return set.decision(for: question).reasons.map(\.remedy)
        }
        #expect(
            remedies(.saveTo, .dropbox).contains(
                "Save it to one of these places of the work account: OneDrive for Business, this app's own storage."))
        #expect(remedies(.openFrom, .camera).contains("Open it from SharePoint, the photo library."))
    }

    @Test func `every place is answered at once as one by one`() {
        let set = PolicySet(.baseline(.level2))
        let all = set.locations(for: .saveTo, of: .managed("oid-a"), account: "oid-a")
        #expect(all.count == 11)
        #expect(all[.oneDriveForBusiness] == .allow && all[.dropbox] == .block)
        #expect(set.locations(for: .openFrom, of: .managed("oid-a"), account: nil).count == 10)
    }
}
