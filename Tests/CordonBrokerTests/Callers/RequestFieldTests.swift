import CordonIdentity
import CordonProtocol
import CordonSignIn
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// What an app asks for arrives at the provider, and what goes wrong can be followed (SI-079, SI-108, SI-116, SI-128).
@Suite struct RequestFieldTests {
    private func query(_ page: URL?) throws -> [String: String] {
        let parts = try URLComponents(url: #require(page), resolvingAgainstBaseURL: false)
        return Dictionary((parts?.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { $1 }
    }

    @Test func `every field of a request reaches the page through the broker, and the administrator's parameters too`()
        async throws
    {
        let stand = try BrokerStand { $0.signInParameters = ["acr_values": "phr"] }
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let answer = await notes.attended(.tokenInteractive, as: .worker, at: stand.provider) {
            $0.loginHint = FakePerson.worker.userName
            $0.domainHint = "contoso.example"
            $0.extraScopes = ["files.read"]
            $0.maximumAge = 60
            $0.prompt = "login"
            $0.claims = #"{"access_token":{"acrs":{"essential":true}}}"#
        }
        #expect(answer.token != nil)
        let page = try query(notes.pages.last?.page)
        #expect(page["login_hint"] == FakePerson.worker.userName && page["domain_hint"] == "contoso.example")
        #expect(page["scope"]?.split(separator: " ").contains("files.read") == true)
        #expect(page["max_age"] == "60" && page["prompt"] == "login" && page["resource"] == BrokerStand.resource)
        #expect(page["claims"] == #"{"access_token":{"acrs":{"essential":true}}}"#)
        #expect(page["acr_values"] == "phr")
    }

    @Test(arguments: [nil, "select_account", "consent"])
    func
        `who comes to a device without a person gives credentials, though the browser may still be signed in as the one before`(
            prompt: String?
        ) async throws
    {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let token = try await notes.signIn(.worker, at: stand.provider)
        #expect(try query(notes.pages.last?.page)["prompt"] == "login")
        let again = await notes.attended(.tokenInteractive, as: .worker, at: stand.provider) { $0.prompt = prompt }
        #expect(again.token?.session == token.session)
        #expect(try query(notes.pages.last?.page)["prompt"] == prompt, "who is there is asked as the app wants it")
        _ = await notes.ask(.accountSignOut)
        _ = await notes.report(.done, of: token.session)
        let next = await notes.attended(.tokenInteractive, as: .otherWorker, at: stand.provider) { $0.prompt = prompt }
        #expect(next.token != nil)
        #expect(try query(notes.pages.last?.page)["prompt"] == "login")
    }

    @Test func `where no person is signed in, a sign-in that may ask nothing shows no page`() async throws {
        let stand = try BrokerStand()
        let notes = try await BrokerApp("notes", at: stand.joinedBroker())
        let answer = await notes.attended(.tokenInteractive, as: .worker, at: stand.provider) { $0.prompt = "none" }
        #expect(answer.error?.code == "interactionRequired" && notes.pages.isEmpty)
    }

    @Test func `an app cannot add parameters of its own`() async throws {
        let device = try SharedDeviceMode(socket: "/nowhere/broker.sock", clientID: "notes")
        var request = SignInRequest(scopes: [])
        request.extraParameters = ["audience": "https://other.example"]
        let asked = request
        await #expect(throws: SignInError(.configuration, .invalidParameter, "")) {
            try await device.signIn(asked, browser: BrowserLauncher { _, _ in nil })
        }
    }

    @Test(arguments: [#"{"client_id": "x"}"#, #"{"state": "x"}"#, #"{"acr_values": 1}"#])
    func `a file cannot set what the broker sets itself`(parameters: String) {
        let text = #"{"issuer": "https://id.contoso.example", "signInParameters": \#(parameters)}"#
        #expect(throws: ProgramError.self) { try BrokerConfiguration(json: Data(text.utf8), place: "test") }
    }

    @Test func `an error carries the request's own id, and the log has the same one`() async throws {
        let stand = try BrokerStand()
        let log = LogRecorder()
        let broker = try await stand.broker(logger: log.logger)
        let notes = try await BrokerApp("notes", at: broker)
        let (plain, attended) = (UUID(), UUID())
        let refused = await notes.ask(.tokenSilent) { $0.correlationID = plain }
        #expect(refused.error?.correlationID == plain)
        let waited = await notes.ask(.tokenInteractive) { $0.correlationID = attended }
        #expect(waited.error?.correlationID == attended)
        for id in [plain, attended] { #expect(log.lines.count { $0.contains(id.uuidString) } == 1, "\(log.lines)") }
        #expect(!log.lines.contains { $0.contains("oid-") || $0.contains("worker") })
    }

    @Test func `the id of an app's request is the one that the provider hears`() async throws {
        let stand = try BrokerStand()
        let log = LogRecorder()
        let joined = try await stand.joinedBroker()
        await joined.flush()
        let broker = try await stand.broker(logger: log.logger)
        let notes = try await BrokerApp("notes", at: broker)
        await stand.provider.setFaults([.accessDenied])
        let id = UUID()
        let answer = await notes.attended(.tokenInteractive, as: .worker, at: stand.provider) { $0.correlationID = id }
        #expect(answer.error?.code == "cancelled" && answer.error?.correlationID == id)
        #expect(log.lines.contains { $0.contains(id.uuidString) })
    }
}
