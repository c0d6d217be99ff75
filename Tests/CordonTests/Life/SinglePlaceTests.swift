import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import Foundation
import Testing

@testable import Cordon

/// SDK-EN-05, SDK-EN-27, SDK-ID-36: who has the one place of an app for one managed account. Such an app declares the identity
/// of its whole process, so each test is a process of its own.
@Suite(.timeLimit(.minutes(10))) struct SinglePlaceTests {
    /// An app for one account, and a service at which two people have rules.
    private struct House {
        let time = TestTime()
        let device: Device
        let two: TwoAccounts
        let hook = Latch()

        init() async throws {
            device = try Device(time: time)
            two = TwoAccounts(device)
            for service in [two.first, two.second] {
                await service.set { [time] in $0.time = { time.now } }
                try await service.publish(["printBlocked": .bool(true)])
            }
        }

        var first: ManagedAccount { two.first.account }
        var second: ManagedAccount { two.second.account }

        func start(over transport: (any HTTPTransport)? = nil) async throws -> AppProtection {
            try await device.start { [two, hook] configuration in
                configuration.allowsSeveralIdentities = false
                configuration.transport = transport ?? two
                configuration.wipeHook = { _ in
                    await hook.pass()
                    return .removed
                }
            }
        }
    }

    @Test func `a second account waits while the first is being removed, and is enrolled once it is gone`() async {
        await #expect(processExitsWith: .success) {
            let house = try await House()
            let app = try await house.start()
            #expect(await app.enroll(house.first) == .newPolicies)
            let leaving = Task { await app.unenroll(house.first.id) }
            await house.hook.waitForArrival()
            #expect(await app.enroll(house.second) == .removingExistingAccount)
            await house.hook.open()
            #expect(await leaving.value == .unenrolled)
            // It is tried again after a minute, without a call.
            house.time.advance(by: 60)
            await app.performDueWork()
            #expect(app.enrolledAccounts == [house.second])
        }
    }

    @Test func `whose place it is counts as in an app for several accounts: an unknown account's is no one's`() async {
        await #expect(processExitsWith: .success) {
            var answers: [[Bool]] = []
            for isSingle in [true, false] {
                let device = try Device()
                try await device.publish([
                    "allowedOutboundDataTransferDestinations": .string("managedApps"),
                    "saveAsBlocked": .bool(true),
                    "allowedDataStorageLocations": .array([.string("oneDriveForBusiness"), .string("photoLibrary")]),
                ])
                let app = try await device.start { $0.allowsSeveralIdentities = !isSingle }
                #expect(await app.enroll(device.account) == .newPolicies)
                let own = device.account.id
                func maySave(to place: Location, of account: AccountID?) -> Bool {
                    app.decision(for: .save(to: place, account: account, of: .managed(own))).verdict.permits
                }
                #expect(maySave(to: .oneDriveForBusiness, of: own), "the primary account's own")
                #expect(!maySave(to: .oneDriveForBusiness, of: nil), "an unknown account's")
                #expect(!maySave(to: .oneDriveForBusiness, of: "oid-z"))
                #expect(maySave(to: .cameraRoll, of: nil), "no account's, as the photo library is")
                answers.append(
                    Location.allCases.flatMap { place in
                        [nil, own, "oid-z"].flatMap { account in
                            [
                                maySave(to: place, of: account),
                                app.decision(for: .open(from: place, account: account, for: .managed(own))).verdict
                                    .permits,
                            ]
                        }
                    })
            }
            #expect(answers[0] == answers[1])
        }
    }

    @Test func `of two accounts that enrol at once the second is refused at once, unless the first does not arrive`()
        async
    {
        await #expect(processExitsWith: .success) {
            let house = try await House()
            let answer = Latch()
            await house.hook.open()
            let app = try await house.start(over: HeldAnswers(house.two, to: "/registrations", latch: answer))
            let first = Task { await app.enroll(house.first) }
            await answer.waitForArrival()
            #expect(await app.enroll(house.second) == .singleAccountOnly)
            #expect(app.enrolledAccounts.isEmpty)
            await answer.open()
            #expect(await first.value == .newPolicies)
            #expect(app.enrolledAccounts == [house.first])
            #expect(await house.two.second.registered.isEmpty)

            #expect(await app.unenroll(house.first.id) == .unenrolled)
            await house.two.first.set { $0.problem = ProblemDetails(title: "busy", status: 503, code: .timedOut) }
            #expect(await app.enroll(house.first) == .timedOut)
            #expect(await app.enroll(house.second) == .newPolicies)
        }
    }

    @Test func `a second account's attempts go on a day later, once the first has left`() async {
        await #expect(processExitsWith: .success) {
            let house = try await House()
            let app = try await house.start()
            await house.hook.open()
            #expect(await app.enroll(house.first) == .newPolicies)
            #expect(await app.enroll(house.second) == .singleAccountOnly)
            house.time.advance(by: 2 * 86_400)
            await app.performDueWork()
            #expect(app.enrolledAccounts == [house.first])
            #expect(await app.enroll(house.second) == .singleAccountOnly)
            #expect(await app.unenroll(house.first.id) == .unenrolled)
            house.time.advance(by: 23 * 3600)
            await app.performDueWork()
            #expect(app.enrolledAccounts.isEmpty)
            house.time.advance(by: 3600)
            await app.performDueWork()
            #expect(app.enrolledAccounts == [house.second])
        }
    }

    @Test func `an account that no rules target any more leaves its place to another`() async {
        await #expect(processExitsWith: .success) {
            let house = try await House()
            let app = try await house.start()
            #expect(await app.enroll(house.first) == .newPolicies)
            await house.two.first.set { $0.policy = nil }
            #expect(await app.checkIn(house.first.id) == .noPolicyTargeted)
            #expect(await app.enroll(house.second) == .newPolicies)
            #expect(app.rules.primaryAccount == house.second.id)
            #expect(IdentityContext.processIdentity == .managed(house.second.id))

            // Rules for the first hold again, but there is no place for it.
            try await house.two.first.publish(["printBlocked": .bool(true)])
            #expect(await app.checkIn(house.first.id) == .singleAccountOnly)
            let print = Question(.print, owner: .managed(house.first.id))
            #expect(!app.decision(for: print).verdict.permits)
            #expect(IdentityContext.processIdentity == .managed(house.second.id))
            #expect(await app.checkIn(house.second.id) == .newPolicies)
            #expect(app.rules.managedAccounts == [house.first.id, house.second.id])
            #expect(app.rules.primaryAccount == house.second.id)
            #expect(await app.launch().account == house.second.id)

            let again = try await house.start()
            #expect(IdentityContext.processIdentity == .managed(house.second.id))
            #expect(again.enrolledAccounts.count == 2)
            #expect(again.rules.primaryAccount == house.second.id)
            #expect(await again.resume().account == house.second.id)
        }
    }

    @Test func `an account keeps its place over a restart, and leaves it to the other when it goes`() async {
        await #expect(processExitsWith: .success) {
            // The order of the two in the folder must not matter.
            for isReversed in [false, true] {
                let house = try await House()
                await house.hook.open()
                let app = try await house.start()
                let (former, present) =
                    isReversed ? (house.two.second, house.two.first) : (house.two.first, house.two.second)
                #expect(await app.enroll(former.account) == .newPolicies)
                await former.set { $0.policy = nil }
                #expect(await app.checkIn(former.account.id) == .noPolicyTargeted)
                #expect(await app.enroll(present.account) == .newPolicies)
                try await former.publish(["printBlocked": .bool(true)])
                #expect(await app.checkIn(former.account.id) == .singleAccountOnly)

                // As in a new process.
                IdentityContext.setProcessIdentity(nil)
                let restarted = try await house.start()
                #expect(restarted.rules.primaryAccount == present.account.id)
                #expect(IdentityContext.processIdentity == .managed(present.account.id))
                #expect(restarted.context.pending.placeHolder == present.account.id)
                #expect(await restarted.unenroll(present.account.id) == .unenrolled)
                #expect(restarted.rules.primaryAccount == former.account.id)
                #expect(restarted.context.pending.placeHolder == nil)
            }
        }
    }
}
