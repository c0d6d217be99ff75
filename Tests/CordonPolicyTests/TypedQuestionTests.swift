import CordonIdentity
import CordonPolicy
import Testing

/// A typed question is the question with its fields set by hand.
@Suite struct TypedQuestionTests {
    private let owner = Identity.managed("oid-a")

    private func asked(_ action: Action, _ change: (inout Question) -> Void = { _ in }) -> Question {
        var question = Question(action, owner: .managed("oid-a"))
        change(&question)
        return question
    }

    @Test func `each typed question says what its action needs`() {
        #expect(
            Question.save(to: .box, account: "oid-a", of: owner)
                == asked(.saveTo) { ($0.location, $0.locationAccount) = (.box, "oid-a") })
        #expect(Question.open(from: .camera, for: owner) == asked(.openFrom) { $0.location = .camera })
        #expect(Question.send(to: .unmanagedApp, of: owner) == asked(.send) { $0.peer = .unmanagedApp })
        #expect(Question.receive(from: .personal, for: owner) == asked(.receive) { $0.peer = .personal })
        #expect(
            Question.copy(7, for: .unmanagedApp, of: owner)
                == asked(.copy) { ($0.peer, $0.characters) = (.unmanagedApp, 7) })
        #expect(Question.receiveItem(loaded: true, for: owner) == asked(.receiveItem) { $0.loaded = true })
        #expect(Question.open("https://a.example", of: owner) == asked(.openURL) { $0.url = "https://a.example" })
        #expect(
            Question.open("https://a.example", isUniversal: true, of: owner)
                == asked(.openUniversalLink) { $0.url = "https://a.example" })
        #expect(Question.may(.print, of: .personal) == Question(.print, owner: .personal))
    }
}
