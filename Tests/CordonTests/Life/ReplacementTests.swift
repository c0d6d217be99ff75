import Cordon
import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTesting
import Foundation
import Testing

/// SDK-SW-04, SDK-RS-04: an app for one account replaces it by the one whose token was refused, if the person says so. Such an
/// app declares the identity of its whole process, so each test is a process of its own.
@Suite(.timeLimit(.minutes(10))) struct ReplacementTests {
    /// An app that holds the first of two accounts, and what it and its person were asked.
    private struct House {
        let device: Device
        let two: TwoAccounts
        let app: AppProtection
        let asked = Locked<[AccountID]>([])
        let restarted = Locked<[AccountID]>([])

        init(_ answer: Bool?) async throws {
            device = try Device()
            two = TwoAccounts(device)
            for service in [two.first, two.second] { try await service.publish(["printBlocked": .bool(true)]) }
            app = try await device.start { [two, asked, restarted] configuration in
                configuration.allowsSeveralIdentities = false
                configuration.transport = two
                configuration.restartApplication = { account in
                    restarted.withLock { $0.append(account) }
                    return true
                }
                guard let answer else { return }
                configuration.confirmReplacement = { present, wanted in
                    asked.withLock { $0 += [present.id, wanted.id] }
                    return answer
                }
            }
            await app.enroll(two.first.account)
            try await app.files.write(Data("plan".utf8), as: "plan", of: two.first.account.id)
        }
    }

    @Test func `a person who agrees has the former account removed, and the app is called for it`() async {
        await #expect(processExitsWith: .success) {
            let house = try await House(true)
            let (first, second) = (house.two.first.account, house.two.second.account)
            #expect(try await house.app.remediations.remediate(second)?.status == .compliant)
            #expect(house.asked.withLock { $0 } == [first.id, second.id])
            #expect(house.app.enrolledAccounts == [second])
            #expect(house.device.keys.count == 1)
            #expect(try await house.device.receipts().map(\.succeeded) == [true])
            try await until { house.restarted.withLock { $0.count } == 3 }
            #expect(
                house.restarted.withLock { $0 }.sorted { $0.rawValue < $1.rawValue } == [first.id, first.id, second.id])
        }
    }

    @Test func `no account is replaced, and the person is not asked, while the wanted one could not be enrolled`() async
    {
        await #expect(processExitsWith: .success) {
            let house = try await House(true)
            let (first, second) = (house.two.first.account, house.two.second.account)
            let services = [house.two.first, house.two.second]
            for service in services { await service.set { $0.isUnreachable = true } }
            #expect(try await house.app.remediations.remediate(second)?.status == .networkFailure)
            for service in services { await service.set { $0.isUnreachable = false } }
            await house.device.sessions.set { $0.tokenFailure = HeldSessions.refusal }
            #expect(try await house.app.remediations.remediate(second)?.status == .serviceFailure)
            await house.device.sessions.set { $0.tokenFailure = nil }
            let stranger = ManagedAccount(id: second.id, tenant: TenantID("tenant-2"), userPrincipalName: "b@x.example")
            #expect(try await house.app.remediations.remediate(stranger)?.status == .notCompliant)
            #expect(house.asked.withLock { $0.isEmpty })
            #expect(house.app.enrolledAccounts == [first])
            #expect(try await house.app.files.read("plan", of: first.id) == Data("plan".utf8))
        }
    }

    @Test func `no account is replaced without a yes, and silently the person is not asked`() async {
        await #expect(processExitsWith: .success) {
            let refusing = try await House(false)
            let second = refusing.two.second.account
            #expect(try await refusing.app.remediations.remediate(second, silent: true)?.status == .interactionRequired)
            #expect(refusing.asked.withLock { $0.isEmpty })
            #expect(try await refusing.app.remediations.remediate(second)?.status == .userCancelled)
            #expect(refusing.asked.withLock { $0.count } == 2)
            let mute = try await House(nil)
            #expect(try await mute.app.remediations.remediate(second)?.status == .notCompliant)
            for house in [refusing, mute] {
                #expect(house.app.enrolledAccounts == [house.two.first.account])
                #expect(try await house.app.files.read("plan", of: house.two.first.account.id) == Data("plan".utf8))
            }
        }
    }
}
