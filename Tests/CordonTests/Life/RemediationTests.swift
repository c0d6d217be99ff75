import Cordon
import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTesting
import Foundation
import Testing

/// SDK-CA-02…07: a token was refused for want of protection.
@Suite(.timeLimit(.minutes(10))) struct RemediationTests {
    @Test func `remediation enrols, says why, and ends compliant`() async throws {
        let device = try Device()
        try await device.publish(["printBlocked": .bool(true)])
        let protection = try await device.start()
        let events = EventCatch(protection)
        let result = try await protection.remediations.remediate(device.account)
        #expect(result == RemediationResult(account: device.account.id, status: .compliant))
        #expect(await device.service.registered.map(\.source) == [.complianceRemediation])
        #expect(await events.has(.remediated(try #require(result))))
        #expect(await !protection.remediations.isRemediating(device.account.id))
    }

    @Test(arguments: [
        (ProblemDetails(title: "", status: 403, code: .notTargeted), RemediationResult.Status.notCompliant),
        (ProblemDetails(title: "", status: 401, code: .authenticationRequired), .interactionRequired),
        (ProblemDetails(title: "", status: 503, code: .internalError), .serviceFailure),
        (ProblemDetails(title: "", status: 504, code: .timedOut), .networkFailure),
    ])
    func `every way to fail has its status and its text`(
        problem: ProblemDetails, status: RemediationResult.Status
    ) async throws {
        let device = try Device()
        await device.service.set { $0.problem = problem }
        let result = try await (try device.start()).remediations.remediate(device.account)
        #expect(result?.status == status)
        #expect(result?.title.isEmpty == false && result?.message.isEmpty == false)
    }

    @Test func `an account that is enrolled already asks for news instead, and is protected without any`() async throws
    {
        let device = try Device()
        let protection = try await device.enrolled()
        try await device.publish(["printBlocked": .bool(false)])
        #expect(try await protection.remediations.remediate(device.account)?.status == .compliant)
        #expect(await device.service.registered.count == 1, "it is not enrolled again")
        #expect(await device.service.checkIns.count == 1)
        #expect(device.mayPrint(protection))
        // Rules that hold protect it although the service cannot be reached.
        await device.service.set { $0.isUnreachable = true }
        #expect(try await protection.remediations.remediate(device.account)?.status == .compliant)
        await device.service.set { ($0.isUnreachable, $0.policy) = (false, nil) }
        #expect(try await protection.remediations.remediate(device.account)?.status == .notCompliant)
    }

    @Test func `an account without rules is not compliant`() async throws {
        let device = try Device()
        #expect(try await (try device.start()).remediations.remediate(device.account)?.status == .notCompliant)
    }

    @Test func `what cannot become compliant is to be removed, and its data goes with it`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        try await protection.files.write(Data("plan".utf8), as: "plan", of: device.account.id)
        #expect(try await protection.remediations.remediate(device.account)?.nextStep == .nothing, "it is protected")
        await device.service.set { $0.policy = nil }
        let result = try #require(try await protection.remediations.remediate(device.account))
        #expect((result.status, result.nextStep) == (.notCompliant, .removeAccount))
        #expect(await protection.unenroll(result.account) == .unenrolled)
        await #expect(throws: (any Error).self) {
            _ = try await protection.files.read("plan", of: device.account.id)
        }
        #expect(await protection.enrollments.registeredAccounts.isEmpty)
    }

    @Test func `every result says what the app does next`() {
        func step(_ status: RemediationResult.Status, _ text: ComplianceReport.TextID? = nil) -> NextStep {
            RemediationResult(account: "oid-a", status: status, textID: text).nextStep
        }
        #expect(
            RemediationResult.Status.allCases.map { step($0) } == [
                .nothing, .removeAccount, .nothing, .nothing, .signIn, .signIn,
            ])
        #expect(step(.notCompliant, .wipePending) == .nothing, "Cordon removes it")
        #expect(step(.notCompliant, .signInAgain) == .signIn)
        for text in [ComplianceReport.TextID.userBlocked, .rootedDevice] {
            #expect(step(.notCompliant, text) == .removeAccount)
        }
    }

    @Test func `a blocked person's remediation says so`() async throws {
        let device = try Device()
        try await device.publish([:])
        await device.service.set { $0.compliance = ComplianceReport(.notCompliant, textID: .userBlocked) }
        var rooted = DeviceFacts()
        rooted.rooted = true
        let facts = rooted
        let protection = try await device.start { $0.deviceFacts = { _ in facts } }
        let result = try await protection.remediations.remediate(device.account, silent: true)
        #expect(result == RemediationResult(account: device.account.id, status: .notCompliant, textID: .userBlocked))
        #expect(result?.message.contains("blocked") == true)
        #expect(await device.service.remediations == [RemediationRequest(silent: true, health: [.rootedDevice])])
    }

    @Test func `what the rules came with counts while compliance cannot be asked for`() async throws {
        let device = try Device()
        try await device.publish([:])
        await device.service.set {
            $0.change = { $0.compliance = ComplianceReport(.interactionRequired, textID: .signInAgain) }
        }
        let result = try await (try device.start()).remediations.remediate(device.account)
        #expect(result?.status == .interactionRequired)
    }

    @Test func `a person who says no has cancelled it`() async throws {
        let device = try Device()
        try await device.publish([:])
        let protection = try await device.start { $0.confirmEnrollment = { _ in false } }
        let result = try await protection.remediations.remediate(device.account)
        #expect(result?.status == .userCancelled && result?.status.rawValue == 5)
        #expect(result?.message == "The account was not added, because the sign-in was cancelled.")
    }

    @Test func `two accounts run one after another`() async throws {
        let device = try Device()
        let two = TwoAccounts(device)
        let latch = Latch()
        for service in [two.first, two.second] { try await service.publish(["printBlocked": .bool(true)]) }
        let service = HeldAnswers(two, to: "/registrations", latch: latch)
        let protection = try await device.start { $0.transport = service }
        let (first, second) = (two.first.account, two.second.account)
        let one = Task { try await protection.remediations.remediate(first) }
        await latch.waitForArrival()
        let other = Task { try await protection.remediations.remediate(second) }
        try await until { await protection.remediations.isRemediating(second.id) }
        #expect(await protection.remediations.isRemediating(first.id))
        #expect(try await protection.remediations.remediate(second) == nil, "it waits already")
        // Time enough for a second one that does not wait.
        for _ in 0..<1_000 { await Task.yield() }
        #expect(await two.second.registered.isEmpty)
        await latch.open()
        #expect(try await one.value?.status == .compliant)
        #expect(try await other.value?.status == .compliant)
        #expect(await two.second.registered.count == 1)
        #expect(await !protection.remediations.isRemediating(second.id))
    }

    @Test func `a silent remediation asks no one`() async throws {
        let device = try Device()
        try await device.publish([:])
        let protection = try await device.start { $0.confirmEnrollment = { _ in true } }
        #expect(
            try await protection.remediations.remediate(device.account, silent: true)?.status == .interactionRequired)
        #expect(try await protection.remediations.remediate(device.account)?.status == .compliant)
    }

    @Test func `a request that is in progress is not taken twice`() async throws {
        let device = try Device()
        try await device.publish([:])
        let protection = try await device.start()
        async let one = protection.remediations.remediate(device.account)
        async let two = protection.remediations.remediate(device.account)
        let results = try await [one, two]
        #expect(results.count { $0 == nil } == 1)
        #expect(await device.service.registered.count == 1)
    }

    @Test func `a remediation whose end could not be noted can be asked for again`() async throws {
        let device = try Device()
        try await device.publish([:])
        let lock = device.folder.appending(path: "data/life.lock")
        let isFirst = Locked(true)
        let app = try await device.start {
            $0.confirmEnrollment = { _ in
                let isFirst = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                guard isFirst else { return true }
                do {
                    try? FileManager.default.removeItem(at: lock)
                    try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false)
                } catch { Issue.record(error) }
                return true
            }
        }
        #expect(try await app.remediations.remediate(device.account) != nil)
        try FileManager.default.removeItem(at: lock)
        #expect(await !app.remediations.isRemediating(device.account.id))
        #expect(try await app.remediations.remediate(device.account)?.status == .compliant)
        #expect(await !app.remediations.isRemediating(device.account.id))
    }

    @Test func `a restart in the middle goes on, and the answer comes after it`() async throws {
        let device = try Device()
        try await device.publish([:])
        let dying = try await device.start {
            $0.confirmEnrollment = { _ in
                try? await Task.sleep(for: .seconds(86_400))
                return false
            }
        }
        let asked = Task { try? await dying.remediations.remediate(device.account) }
        try await until { await dying.remediations.isRemediating(device.account.id) }
        let relaunched = try await device.start()
        let events = EventCatch(relaunched)
        #expect(await events.has(.remediated(RemediationResult(account: device.account.id, status: .compliant))))
        let again = EventCatch(try await device.start())
        #expect(await again.count { if case .remediated = $0 { true } else { false } } == 0, "an answer is given once")
        asked.cancel()
    }

    @Test func `an extension that starts leaves the app's remediation and its result alone, and begins none`()
        async throws
    {
        let device = try Device()
        try await device.publish([:])
        let latch = Latch()
        let dying = try await device.start {
            $0.confirmEnrollment = { _ in
                await latch.pass()
                return false
            }
        }
        let asked = Task { try? await dying.remediations.remediate(device.account) }
        await latch.waitForArrival()
        let share = try await device.start { $0.isExtension = true }
        let heard = EventCatch(share)
        await #expect(throws: ProtectionError(.invalidConfiguration, "")) {
            try await share.remediations.remediate(device.account)
        }
        // One that were begun would have ended at once.
        for _ in 0..<1_000 { await Task.yield() }
        #expect(await share.remediations.isRemediating(device.account.id))
        let relaunched = try await device.start()
        let compliant = RemediationResult(account: device.account.id, status: .compliant)
        try await until { await !relaunched.remediations.isRemediating(device.account.id) }
        _ = try await device.start { $0.isExtension = true }
        let again = EventCatch(try await device.start())
        #expect(await again.has(.remediated(compliant)), "nobody has heard it yet")
        #expect(await heard.count { if case .remediated = $0 { true } else { false } } == 0)
        await latch.open()
        _ = await asked.value
    }
}
