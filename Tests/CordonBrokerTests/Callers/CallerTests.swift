import CordonBase
import CordonIdentity
import CordonProtocol
import CordonSignIn
import CordonTesting
import Foundation
import HTTPTypes
import Testing

@testable import CordonBroker

/// Who may use the broker, and for what (SI-002, SI-005, SI-018, SI-026, SI-189 to SI-194).
@Suite struct CallerTests {
    private func fault(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch { return (error as? SignInError)?.fault.rawValue }
    }

    @Test func `a program that is not on the list gets nothing`() async throws {
        let digest = String(repeating: "a", count: 64)
        let stand = try BrokerStand { $0.apps[0].sha256 = digest }
        let broker = try await stand.joinedBroker()
        #expect(await fault { _ = try await BrokerApp("notes", at: broker, digest: digest) } == nil)
        #expect(await fault { _ = try await BrokerApp("notes", at: broker, digest: "b") } == "brokerDenied")
        #expect(await fault { _ = try await BrokerApp("stranger", at: broker) } == "brokerDenied")
        #expect(await fault { _ = try await BrokerApp("board", at: broker, clientID: "notes") } == "brokerDenied")
        #expect(await fault { _ = try await BrokerApp("board", at: broker, path: "/tmp/board") } == "brokerDenied")
    }

    @Test func `the administrator and the broker's own user have no app's rights`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        for user in [0, BrokerStand.user] {
            let administrator = try await BrokerApp("notes", at: broker, user: user)
            #expect(await administrator.ask(.accountCurrent).error?.code == "brokerRefused")
            #expect(await administrator.silent(.worker).error?.code == "brokerRefused")
            #expect(await administrator.ask(.deviceInfo).device?.isShared == true)
        }
    }

    @Test func `in development with a list the broker's own user joins the device, and starts its apps`() async throws {
        let stand = try BrokerStand { $0.isDevelopment = true }
        let broker = try await stand.broker()
        let command = try await BrokerApp(
            "cordon", at: broker, user: BrokerStand.user, path: "/usr/bin/cordon", clientID: "cordon-device")
        let joined = await command.attended(.deviceJoin, as: .administrator, at: stand.provider)
        #expect(joined.device?.isShared == true, "\(String(describing: joined.error))")
        #expect(await command.ask(.accountCurrent).error?.code == "brokerRefused")
        let notes = try await BrokerApp("notes", at: broker, user: BrokerStand.user)
        #expect(try await notes.current().current == nil)
        #expect(await fault { _ = try await BrokerApp("stranger", at: broker) } == "brokerDenied")
    }

    @Test func `in development an app of the list that does not fit its entry hears why, and is no administrator`()
        async throws
    {
        let stand = try BrokerStand {
            $0.isDevelopment = true
            $0.apps[1].group = "board-app"
            $0.apps[2].sha256 = "aa"
        }
        let broker = try await stand.broker()
        func reason(
            _ name: String, as clientID: String, path: String? = nil, change: (inout BrokerCaller) -> Void = { _ in }
        ) async throws -> String {
            let app = try await BrokerApp(
                name, at: broker, user: BrokerStand.user, path: path, greets: false, change: change)
            return await app.greet(clientID).error?.reason ?? ""
        }
        #expect(try await reason("notes", as: "notes") == "", "the control")
        #expect(try await reason("notes", as: "mail").hasSuffix("the program's entry has another client id"))
        let ofGroup = try await reason("board", as: "mail", path: "") { $0.groups = ["board-app"] }
        #expect(ofGroup.hasSuffix("the program's entry has another client id"))
        #expect(try await reason("board", as: "board").hasSuffix("does not run with the group of its entry"))
        #expect(try await reason("third", as: "third").hasSuffix("the program has not the digest of its entry"))
    }

    @Test func `nothing is answered before hello, and hello comes once with a version that both speak`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let app = try await BrokerApp("notes", at: broker, greets: false)
        for verb in BrokerVerb.allCases where ![.hello, .tokenReturn, .tokenCancel].contains(verb) {
            #expect(await app.ask(verb).error?.code == "brokerRefused", "\(verb)")
        }
        #expect(await app.greet("notes", versions: [3]).error?.code == "brokerRefused")
        #expect(await app.greet("notes", versions: [], singleAccount: true).error != nil)
        #expect(await app.greet("notes", singleAccount: false).error?.code == "configuration")
        #expect(await app.greet("notes", versions: [9, 1, 2]).hello?.version == 2)
        #expect(await app.greet("notes").error?.fault == "invalidRequest")
        var strange = LooseRequest(.hello)
        strange.verb = "account.borrow"
        #expect(await app.ask(strange).error?.fault == "unhandledError")
    }

    @Test func `a request repeats the nonce of its own connection's greeting, or is refused`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let app = try await BrokerApp("notes", at: broker)
        let other = try await BrokerApp("notes", at: broker, greets: false)
        let foreign = try #require(await other.greet("notes").hello?.nonce)
        #expect(Base64URL.decode(foreign)?.count == 16)
        for nonce in [foreign, "", "x"] {
            let answer = await app.ask(.accountCurrent) { $0.nonce = nonce }
            #expect(answer.error?.fault == "brokerDenied" && answer.current == nil)
        }
        #expect(await app.ask(.accountCurrent).current != nil)
    }

    @Test func `a client of the first version is served where the kernel vouches for it, and told to update elsewhere`()
        async throws
    {
        let stand = try BrokerStand { $0.apps[1].group = "board-app" }
        let broker = try await stand.joinedBroker()
        let byFile = try await BrokerApp("notes", at: broker, greets: false)
        let refusal = await byFile.greet("notes", versions: [1]).error
        #expect(refusal?.fault == "invalidRequest" && refusal?.hint.hasPrefix("Update the app") == true)
        #expect(await byFile.ask(.accountCurrent).error != nil)
        let byGroup = try await BrokerApp("board", at: broker, greets: false) { $0.groups = ["board-app"] }
        let greeting = await byGroup.greet("board", versions: [1]).hello
        #expect(greeting?.version == 1 && greeting?.nonce == nil)
        #expect(await byGroup.ask(.accountCurrent).current != nil)
        let administrator = try await BrokerApp("x", at: broker, user: 0, greets: false)
        #expect(await administrator.greet("x", versions: [1]).hello?.version == 1)
    }

    @Test func `an entry with a group or a label means who the kernel said had it when it connected`() async throws {
        let stand = try BrokerStand {
            $0.apps[0].group = "notes-app"
            $0.apps[1].label = "snap.board.board"
        }
        let broker = try await stand.joinedBroker()
        // The file of the entry, and even the right one, is not enough.
        #expect(await fault { _ = try await BrokerApp("notes", at: broker) } == "brokerDenied")
        #expect(await fault { _ = try await BrokerApp("board", at: broker) } == "brokerDenied")
        #expect(
            await fault {
                _ = try await BrokerApp("notes", at: broker, path: "") {
                    $0.groups = ["notes-app"]
                    $0.objection = .unseen
                }
            } == nil)
        #expect(await fault { _ = try await BrokerApp("board", at: broker) { $0.label = "snap.board.board" } } == nil)
        #expect(await fault { _ = try await BrokerApp("board", at: broker) { $0.label = "unconfined" } } != nil)
        // Neither stands for another entry, nor a label for the file.
        #expect(await fault { _ = try await BrokerApp("board", at: broker) { $0.groups = ["notes-app"] } } != nil)
        #expect(
            await fault {
                _ = try await BrokerApp("board", at: broker, path: "/tmp/b") { $0.label = "snap.board.board" }
            } != nil)
    }

    @Test func `the profile's lists decide by bundle id`() async throws {
        let stand = try BrokerStand {
            $0.profileApps.allowsAll = false
            $0.profileApps.allowed = ["example.notes"]
            $0.profileApps.allowedPrefixes = ["example.b"]
            $0.profileApps.blocked = ["example.board"]
        }
        let broker = try await stand.joinedBroker()
        #expect(await fault { _ = try await BrokerApp("notes", at: broker) } == nil)
        #expect(await fault { _ = try await BrokerApp("board", at: broker) } == "brokerDenied")
        #expect(await fault { _ = try await BrokerApp("third", at: broker) } == "brokerDenied")
    }

    @Test func `an app gets tokens for its own resources only`() async throws {
        let stand = try BrokerStand { $0.apps[1].resources = ["https://other.example"] }
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        #expect(await notes.silent(.worker).token != nil)
        let board = try await BrokerApp("board", at: broker)
        #expect(await board.silent(.worker).error?.code == "brokerRefused")
    }

    @Test(arguments: [
        (true, true, true), (false, true, true), (true, false, true), (true, true, false), (false, false, true),
        (false, true, false), (true, false, false), (false, false, false),
    ])
    func `a device is shared only when all three parts are there`(profile: Bool, app: Bool, joined: Bool) async throws {
        let stand = try BrokerStand {
            $0.profileSaysShared = profile
            $0.managedConfigurationSaysShared = app
        }
        let broker = joined ? try await stand.joinedBroker() : try await stand.broker()
        let notes = try await BrokerApp("notes", at: broker)
        let device = try #require(await notes.ask(.deviceInfo).device)
        #expect(device.isShared == (profile && app && joined))
        #expect(device.missing.contains(.profile) == !profile)
        #expect(device.missing.contains(.managedConfiguration) == !app)
        #expect(device.missing.contains(.registration) == !joined)
        if !device.isShared {
            #expect(await notes.ask(.accountCurrent).error?.code == "deviceNotShared")
            #expect(await notes.ask(.tokenInteractive).error?.code == "deviceNotShared")
        }
    }

    @Test func `joining takes the role, a local administrator, and happens once`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.broker()
        let worker = try await BrokerApp("notes", at: broker)
        #expect(await worker.ask(.deviceJoin).error?.code == "brokerRefused")
        let administrator = try await BrokerApp("x", at: broker, user: 0)
        let refused = await administrator.attended(.deviceJoin, as: .worker, at: stand.provider)
        #expect(refused.error?.code == "brokerRefused")
        let before = try #require(await worker.ask(.deviceInfo).device)
        #expect(before.registration == nil && before.extraInformation.isEmpty)
        let joined = await administrator.attended(.deviceJoin, as: .administrator, at: stand.provider)
        let registration = try #require(joined.device?.registration)
        #expect(registration.tenant.rawValue == "contoso")
        #expect(joined.device?.registration(with: TenantID("contoso")) == registration)
        #expect(joined.device?.registration(with: TenantID("fabrikam")) == nil)
        let names = ["device_id", "tenant_id", "cloud_host", "certificate_thumbprint"]
        #expect(
            joined.device?.extraInformation.keys.sorted()
                == ["isSSOExtensionInFullMode"] + names.map { "primary_registration_metadata_" + $0 }.sorted())
        #expect(joined.device?.extraInformation["isSSOExtensionInFullMode"] == "Yes")
        #expect(registration.cloudHost == URL(string: stand.provider.issuer)?.host())
        let again = await administrator.attended(.deviceJoin, as: .administrator, at: stand.provider)
        #expect(again.device?.registration == registration)
        let foreign = await administrator.attended(.deviceJoin, as: .stranger, at: stand.provider)
        #expect(foreign.error?.reason == "the device belongs to another organisation")
        #expect(await administrator.attended(.deviceJoin, as: .stranger, at: stand.provider).error != nil)
        #expect(await administrator.attended(.deviceLeave, as: .stranger, at: stand.provider).error != nil)
        #expect(try await worker.current().current == nil, "the administrator is not the device's account")
        // Restarted, it is the same device.
        let restarted = try await BrokerApp("notes", at: stand.broker())
        #expect(await restarted.ask(.deviceInfo).device?.registration == registration)
    }

    @Test func `an administrator who is granted less than was asked for joins nothing and leaves nothing behind`()
        async throws
    {
        let stand = try BrokerStand()
        let broker = try await stand.broker()
        let administrator = try await BrokerApp("x", at: broker, user: 0)
        await stand.provider.setFaults([.declinesScopes])
        let refused = await administrator.attended(.deviceJoin, as: .administrator, at: stand.provider)
        #expect(refused.error?.code == "declinedScopes")
        #expect(try await broker.client.storedAccounts().isEmpty)
        await stand.provider.setFaults([])
        let joined = await administrator.attended(.deviceJoin, as: .administrator, at: stand.provider)
        #expect(joined.device?.isShared == true)
    }

    @Test func `an administrator who is the person on the device, and is granted less, goes on with the newer tokens`()
        async throws
    {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let session = try await notes.signIn(.administrator, at: stand.provider).session
        let administrator = try await BrokerApp("x", at: broker, user: 0)
        await stand.provider.setFaults([.declinesScopes])
        let refused = await administrator.attended(.deviceLeave, as: .administrator, at: stand.provider)
        #expect(refused.error?.code == "declinedScopes")
        let known = try #require(await broker.state.account)
        #expect(known.session == session)
        #expect(try await broker.client.account(known.facts.id)?.session == known.facts.session)
    }

    @Test func `an administrator learns what cannot work, and an app does not`() async throws {
        let stand = try BrokerStand {
            $0.apps[0].path = "/etc/hostname"
            $0.apps[1].path = "/etc/passwd"
            $0.apps[1].group = "no such group"
        }
        let broker = try await stand.broker()
        let administrator = try await BrokerApp("x", at: broker, user: 0)
        let problems = try #require(await administrator.ask(.deviceInfo).device?.problems)
        #expect(problems.contains { $0.hasPrefix("/etc/passwd cannot be served: the entry's group") })
        #expect(problems.contains { $0.contains("no service is named") })
        #expect(!problems.contains { $0.contains("/apps/third") }, "not installed is no mistake")
        let app = try await BrokerApp("third", at: broker)
        #expect(await app.ask(.deviceInfo).device?.problems == nil)
    }

    @Test func `leaving signs out, tells the apps and forgets the device`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        let listener = try await BrokerApp("board", at: broker)
        _ = await listener.ask(.eventsSubscribe)
        let administrator = try await BrokerApp("x", at: broker, user: 0)
        let left = await administrator.attended(.deviceLeave, as: .administrator, at: stand.provider)
        #expect(left.device?.missing == [.registration])
        #expect(listener.events.map(\.type) == [.globalSignOut, .registered])
        let again = await administrator.attended(.deviceJoin, as: .administrator, at: stand.provider)
        #expect(again.device?.isShared == true)
        #expect(try await notes.current().owed.count == 1)
    }

    @Test func `only the organisation's people sign in, and none while another is signed in`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let foreign = await notes.attended(.tokenInteractive, as: .stranger, at: stand.provider)
        #expect(foreign.error?.code == "brokerRefused")
        #expect(try await notes.current().current == nil)
        try await notes.signIn(.worker, at: stand.provider)
        let hinted = await notes.ask(.tokenInteractive) { $0.loginHint = FakePerson.otherWorker.userName }
        #expect(hinted.error?.code == "accountMismatch")
        let other = await notes.attended(.tokenInteractive, as: .otherWorker, at: stand.provider)
        #expect(other.error?.code == "accountMismatch")
        #expect(try await notes.current().current?.id == FakePerson.worker.account)
    }

    @Test func `the session's key signs proofs and receipts and nothing else`() async throws {
        let stand = try BrokerStand { $0.apps[0].origins = ["https://a.example"] }
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        let proof = #"{"jti":"1","htm":"GET","htu":"https://a.example/x","iat":1800000000}"#
        let receipt = """
            {"commandID":"c","tenant":"contoso","registrationID":"r","account":"a","bundleID":"example.notes",\
            "destroyedKeyIDs":[],"files":0,"bytes":0,"started":"2027-01-15T08:00:00Z","finished":"2027-01-15T08:00:00Z",\
            "failures":[]}
            """
        func input(_ header: String, _ payload: String) -> String {
            [header, payload].map { Base64URL.encode(Data($0.utf8)) }.joined(separator: ".")
        }
        func isSigned(_ text: String) async -> Bool {
            await notes.ask(.tokenProof) { $0.input = text }.signature != nil
        }
        #expect(await isSigned(input(#"{"alg":"ES256","typ":"dpop+jwt"}"#, proof)))
        #expect(await isSigned(input(#"{"alg":"ES256","typ":"cordon-wipe-receipt+jwt"}"#, receipt)))
        for type in MessageType.allCases.map(\.rawValue) + ["JWT", "at+jwt"] {
            for payload in [proof, receipt, "{}"] {
                let isWanted =
                    type == "dpop+jwt" && payload == proof
                    || type == "cordon-wipe-receipt+jwt" && payload == receipt
                let text = input(#"{"alg":"ES256","typ":"\#(type)"}"#, payload)
                #expect(await isSigned(text) == isWanted, "\(type) \(payload)")
            }
        }
        #expect(await isSigned(input(#"{"alg":"none","typ":"dpop+jwt"}"#, proof)) == false)
        #expect(await isSigned("anything") == false)
        #expect(await isSigned("e30.e30.e30") == false)
    }

    @Test func `who shows the page and brings the answer back has no token by it`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let waiting = Task { await notes.ask(.tokenInteractive) }
        try await until { !notes.pages.isEmpty }
        let page = try #require(notes.pages.last?.page)
        let answer = try #require(await stand.provider.visit(page, as: .worker))
        let code = try #require(
            URLComponents(url: answer, resolvingAgainstBaseURL: false)?.queryItems?.first { $0.name == "code" }?.value)
        // All that the helper ever held, at the provider, without the verifier that stayed in the broker (SI-196).
        let seen = page.absoluteString + answer.absoluteString
        #expect(!seen.contains("code_verifier") && seen.contains("code_challenge"))
        var request = HTTPRequest(method: .post, url: try #require(URL(string: stand.provider.issuer + "/token")))
        request.headerFields[.contentType] = "application/x-www-form-urlencoded"
        let form =
            "grant_type=authorization_code&client_id=\(stand.provider.clientID)&code=\(code)"
            + "&redirect_uri=cordon.broker://auth&code_verifier=guess"
        let redeemed = try await stand.provider.transport.send(
            request, body: Data(form.utf8), limit: 65_536, timeout: .seconds(60))
        #expect(redeemed.head.status == .badRequest)
        #expect(!String(decoding: redeemed.body, as: UTF8.self).contains("access_token"))
        await notes.leave()
        #expect(await waiting.value.token == nil)
    }

    @Test(arguments: [("0\n", true), ("1\n", false), ("2\n", false), ("3\n", false), (nil, true)])
    func `a system that lets programs of one user read each other's memory is reported`(setting: String?, warns: Bool) {
        #expect(Broker.letsProgramsReadMemory(setting) == warns)
    }

    @Test func `an app that goes away ends the sign-in it had begun, and the next one can begin`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let gone = try await BrokerApp("notes", at: broker)
        let waiting = Task { await gone.ask(.tokenInteractive) }
        try await until { !gone.pages.isEmpty }
        let board = try await BrokerApp("board", at: broker)
        #expect(await board.ask(.tokenInteractive).error?.fault == "interactiveSessionRunning")
        await gone.leave()
        #expect(await waiting.value.error?.code == "cancelled")
        try await board.signIn(.worker, at: stand.provider)
    }
}
