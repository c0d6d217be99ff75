import CordonIdentity
import CordonPolicy

/// Random questions, and the same ones for the switch, so that no branch can be learnt by heart.
struct Workload {
    static let count = 256

    let questions: [Question]
    let requests: [HandWrittenSwitch.Request]

    /// Where the questions are put: `accounts` decides whose data it is, `isPlain` leaves out what names a second account.
    init(accounts: [AccountID], isPlain: Bool) {
        var state: UInt64 = 42
        func next(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        let actions: [Action] = [
            .saveTo, .openFrom, .send, .receive, .copy, .paste, .print, .syncContacts, .showWidget, .backUp, .share,
            .siriIntent, .appIntent, .indexSpotlight, .notify,
        ]
        let places: [Location] = [.oneDriveForBusiness, .sharePoint, .box, .iManage, .egnyte, .other]
        var questions: [Question] = []
        var requests: [HandWrittenSwitch.Request] = []
        for _ in 0..<Self.count {
            let account = accounts[next(accounts.count)]
            // Another string of the same letters: what an app holds is never the very string of the policy.
            let same = AccountID(String(Array(account.rawValue)))
            let isManaged = next(8) > 0
            var request = HandWrittenSwitch.Request(
                action: actions[next(actions.count)], owner: isManaged ? .managed(account.rawValue) : .personal,
                location: places[next(places.count)], peer: .unmanaged, characters: next(200))
            var question = Question(request.action, owner: isManaged ? .managed(account) : .personal)
            question.location = request.location
            question.characters = request.characters
            question.peer = .unmanagedApp
            let kind = next(isPlain ? 2 : 4)
            if kind == 1 { (question.peer, request.peer) = (.exemptApp, .exempt) }
            if kind > 1 && isManaged {
                question.peer = .managed(same)
                question.locationAccount = same
                (request.peer, request.peerAccount, request.locationAccount) = (.managed, same.rawValue, same.rawValue)
            }
            questions.append(question)
            requests.append(request)
        }
        (self.questions, self.requests) = (questions, requests)
    }

    /// Nanoseconds for one answer of the policies; each question in its turn, so that none is copied.
    func time(_ set: PolicySet, turns: Int) -> Double {
        mean { number in
            let question = questions[number]
            return Meter.nanoseconds(turns / Self.count) { turns in
                var denials = 0
                for _ in 0..<turns where set.verdict(for: question) == .block { denials += 1 }
                keep(denials)
            }
        }
    }

    /// Nanoseconds for one answer of the switch, in the same manner.
    func time(_ hand: HandWrittenSwitch, turns: Int) -> Double {
        mean { number in
            let request = requests[number]
            return Meter.nanoseconds(turns / Self.count) { turns in
                var denials = 0
                for _ in 0..<turns where hand.verdict(request) == .block { denials += 1 }
                keep(denials)
            }
        }
    }

    /// Nanoseconds for one answer of the switch whose rules are found in a dictionary by the account's id.
    func time(_ hands: [String: HandWrittenSwitch], turns: Int) -> Double {
        mean { number in
            let request = requests[number]
            return Meter.nanoseconds(turns / Self.count) { turns in
                var denials = 0
                for _ in 0..<turns {
                    guard case .managed(let owner) = request.owner else { continue }
                    if hands[owner]?.verdict(request) != .allow { denials += 1 }
                }
                keep(denials)
            }
        }
    }

    private func mean(_ measure: (Int) -> Double) -> Double {
        (0..<Self.count).map(measure).reduce(0, +) / Double(Self.count)
    }

    /// Questions that the policies and the switch answer differently; there must be none.
    func differences(_ set: PolicySet, _ hand: HandWrittenSwitch) -> Int {
        zip(questions, requests).count { set.verdict(for: $0) != hand.verdict($1) }
    }
}

/// Uses a value, so that the work behind it cannot be left out.
@inline(never)
func keep(_ value: Int) {
    if value == .min { print(value) }
}
