import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonVault
import Foundation
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct RulesAtRunTimeTests {
    @Test func `new rules are in force at once, in the same process, and observers are told`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(["printBlocked": .bool(true)])
        #expect(!device.mayPrint(protection))
        let events = protection.events()
        try await device.publish(["printBlocked": .bool(false)])
        #expect(await protection.checkIn(device.account.id) == .newPolicies)
        #expect(device.mayPrint(protection))
        let news = ProtectionEvent.policyChanged(account: device.account.id, version: "v2", sequence: 2)
        #expect(await events.first { $0 == news } != nil)
    }

    @Test func `every place is answered at once as one by one`() async throws {
        let device = try Device()
        let protection = try await device.enrolled([
            "allowedOutboundDataTransferDestinations": .string("managedApps"),
            "saveAsBlocked": .bool(true), "allowedDataStorageLocations": .array(["oneDriveForBusiness", "box"]),
            "blockDataIngestionIntoOrganizationDocuments": .bool(true),
            "allowedDataIngestionLocations": .array(["camera"]),
        ])
        let account = device.account.id
        for identity in [Identity.managed(account), .personal] {
            for action in [Action.saveTo, .openFrom] {
                let all = protection.rules.locations(for: action, of: identity, account: account)
                #expect(all.count == (action == .saveTo ? 11 : 10))
                for (location, verdict) in all {
                    var question = Question(action, owner: EffectiveIdentity(identity))
                    question.location = location
                    question.locationAccount = account
                    #expect(protection.decision(for: question).verdict == verdict, "\(action) \(location)")
                }
                // What is the account's leaves it for few places, and is not opened without an account from the account's own.
                let isLimited = (identity != .personal) == (action == .saveTo)
                #expect(Set(all.values) == (isLimited ? [.allow, .block] : [.allow]), "\(identity) \(action)")
            }
        }
        #expect(protection.rules.locations(for: .saveTo, of: .managed("oid-nobody")).values.allSatisfy { $0 == .block })
    }

    @Test func `what an app adapts its screens by follows the rules, and is free for personal work`() async throws {
        let device = try Device()
        let protection = try await device.enrolled([
            "pinRequired": .bool(true), "managedBrowserToOpenLinksRequired": .bool(true),
            "contactSyncBlocked": .bool(true), "allowedOutboundDataTransferDestinations": .string("none"),
            "screenCaptureConfigurationState": .string("blocked"), "notificationRestriction": .string("block"),
        ])
        func answers(_ identity: Identity) -> [Bool] {
            [
                !protection.rules.isPINRequired(for: identity),
                !protection.rules.isManagedBrowserRequired(for: identity),
                protection.rules.isContactSyncAllowed(for: identity),
                protection.rules.isSpotlightIndexingAllowed(for: identity),
                protection.rules.isWidgetContentSyncAllowed(for: identity),
                protection.rules.isScreenCaptureAllowed(for: identity),
            ]
        }
        #expect(answers(.managed(device.account.id)) == Array(repeating: false, count: 6))
        #expect(answers(.personal) == Array(repeating: true, count: 6))
        try await device.publish([
            "pinRequired": .bool(false), "allowedOutboundDataTransferDestinations": .string("allApps"),
            "allowWidgetContentSync": .bool(true),
        ])
        await protection.checkIn(device.account.id)
        #expect(answers(.managed(device.account.id)) == Array(repeating: true, count: 6))
    }

    @Test func `stored rules are verified again at every start, and in force without the network`() async throws {
        let device = try Device()
        _ = try await device.enrolled(["printBlocked": .bool(true)])
        await device.service.set { $0.isUnreachable = true }
        let restarted = try await device.start()
        #expect(restarted.enrolledAccounts == [device.account])
        #expect(!device.mayPrint(restarted))
    }

    @Test func `stored rules that were changed on disk deny everything until the next check-in`() async throws {
        let device = try Device()
        _ = try await device.enrolled(["printBlocked": .bool(false)])
        let folder = device.folder.appending(path: "data/registrations")
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path).first)
        let file = folder.appending(path: name)
        let stored = String(decoding: try device.contents(ofState: file), as: UTF8.self)
        let envelope = try #require(stored.firstMatch(of: /"envelope":"([^"]+)"/)?.output.1)
        let cut = envelope.dropLast(8) + "AAAAAAAA"
        try device.seal(stored.replacing(envelope, with: cut), inState: file)

        let restarted = try await device.start()
        #expect(!device.mayPrint(restarted))
        let events = EventCatch(restarted)
        let isTold = await events.count {
            if case .stateSetAside(let reason) = $0 { reason.hasPrefix("the stored rules are not") } else { false }
        }
        #expect(isTold == 1)
        #expect(await restarted.checkIn(device.account.id) == .newPolicies)
        #expect(device.mayPrint(restarted))
    }

    @Test func `a registration that cannot be read is set aside, and its account counts as not enrolled`() async throws
    {
        let device = try Device()
        _ = try await device.enrolled()
        let folder = device.folder.appending(path: "data/registrations")
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path).first)
        try Data("{".utf8).write(to: folder.appending(path: name))
        let restarted = try await device.start()
        #expect(restarted.enrolledAccounts.isEmpty)
        #expect(!device.mayPrint(restarted), "an account without known rules is denied")
        for _ in 1...2 {
            var events = restarted.events().makeAsyncIterator()
            guard case .stateSetAside? = await events.next() else {
                Issue.record("an observer is not told of what was set aside at the start")
                return
            }
        }
        await restarted.launch()
        var late = restarted.events().makeAsyncIterator()
        _ = await restarted.checkIn(device.account.id)
        guard case .status? = await late.next() else {
            Issue.record("an observer is told of the start after the launch")
            return
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [name + ".damaged"])
    }

    @Test func `an account that no rules target is unrestricted`() async throws {
        let device = try Device()
        let protection = try await device.start()
        #expect(await protection.enroll(device.account) == .noPolicyTargeted)
        #expect(protection.enrolledAccounts == [device.account])
        for action in Action.allCases {
            for viewer in WebViewerPolicy.allCases {
                var question = Question(action, owner: .managed(device.account.id))
                question.peer = .unmanagedApp
                question.loaded = true
                question.viewer = viewer
                #expect(protection.decision(for: question).verdict == .allow, "\(action) \(viewer)")
                #expect(protection.rules.verdict(for: question) == .allow, "\(action) \(viewer)")
            }
        }
    }

    @Test func `work that lost its identity is denied once an account is managed`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(["printBlocked": .bool(false)])
        #expect(!protection.decision(for: Question(.print, owner: .lost)).verdict.permits)
        #expect(protection.decision(for: Question(.print, owner: .personal)).verdict.permits)
    }

    @Test(arguments: [
        (503, EnrollmentStatus.internalError), (401, .authenticationRequired), (410, .registrationGone),
    ])
    func `a service that refuses changes nothing and is reported by its status`(
        http: Int, status: EnrollmentStatus
    ) async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        await device.service.set { $0.outage = .init(code: http) }
        #expect(await protection.checkIn(device.account.id) == status)
        #expect(!device.mayPrint(protection))
    }

    @Test func `an unreachable service is status 212 at check-in, 205 at enrolment, and 204 when it was never found`()
        async throws
    {
        let device = try Device()
        let protection = try await device.enrolled()
        await device.service.set { $0.isUnreachable = true }
        #expect(await protection.checkIn(device.account.id) == .checkInNetworkFailure)
        let other = try Device()
        await other.service.set { $0.isUnreachable = true }
        let second = try await other.start()
        #expect(await second.enroll(other.account) == .discoveryFailed)
        await other.service.set { $0.isUnreachable = false }
        _ = try await AppProtection.discover(
            try #require(URL(string: "https://service.test")), over: other.service,
            rememberedIn: ServiceMemory(
                dataDirectory: other.folder.appending(path: "data"), bundleID: "example.notes", keyStore: other.keyStore
            ))
        await other.service.set { $0.isUnreachable = true }
        #expect(await second.enroll(other.account) == .enrollmentNetworkFailure)
    }

    @Test func `a nonce that the service demands is used at once`() async throws {
        let device = try Device()
        await device.service.set { $0.nonce = "fresh" }
        _ = try await device.enrolled()
    }

    @Test func `an account that is enrolled is not enrolled twice`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        #expect(await protection.enroll(device.account) == .alreadyEnrolled)
    }
}
