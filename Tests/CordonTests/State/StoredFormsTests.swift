import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Crypto
import Foundation
import Testing

@testable import Cordon

/// What is stored is read member by member at every start, and says what a decoder would say.
struct StoredFormsTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let account = ManagedAccount(id: "oid-a", tenant: TenantID("t"), userPrincipalName: "a@b.example")

    /// Every member, also of what is inside, in every wrong form in turn.
    private func compare<Record: Codable & Equatable & JSONReadable>(_ record: Record, members count: Int) throws {
        let bytes = try MessageCoding.encode(record)
        #expect(try MessageCoding.read(Record.self, from: bytes) == record)
        let value = try JSONValue(parsing: bytes)
        #expect(value.object?.count == count, "every member has a value here")
        for place in Place.all(in: value) {
            for form in WrongForm.all {
                let changed = Data(place.text(of: value, as: form).utf8)
                let tree = try? JSONValue(parsing: changed)
                #expect(
                    (try? MessageCoding.read(Record.self, from: changed))
                        == tree.flatMap { try? MessageCoding.decode(Record.self, from: $0) }, "\(place) \(form)")
            }
        }
    }

    private static func discovery() throws -> ServiceDiscovery {
        let address = try #require(URL(string: "https://a.example/b"))
        return ServiceDiscovery(
            tenant: TenantID("t"), issuer: address, checkIn: address, resource: "r", scope: "s", keys: address,
            versions: [1])
    }

    private static let reading = ClockReading(
        ProtectionClock(now: { now }, sleep: { _ in }, boot: { BootReading(boot: "b", uptime: .seconds(5)) }))

    @Test func `a registration is read as a decoder reads it, however it is damaged`() throws {
        let (root, signing) = (SoftwareSigningKey(), SoftwareSigningKey())
        try compare(
            RegistrationRecord(
                generation: 3, registrationID: "r", account: Self.account, discovery: try Self.discovery(),
                keys: try SignedKeySet([signing.publicKey], validFrom: Self.now, until: Self.now + 60, root: root),
                keysFetched: Self.now, envelope: SignedEnvelope("text"), sequence: 4, lastCheckIn: Self.now,
                contacted: Self.reading, contact: "c", nextCheckIn: Self.now, planned: Self.now, failures: 1,
                isAccountDisabled: false, lastEventID: "e", deviceTag: "d",
                evidence: EvidenceReports.Shown(key: "k", next: Self.now),
                wipe: BegunWipe(
                    command: Command(
                        id: "c", kind: .wipe, account: "oid-a", reason: .device, issuedAt: 1, notAfter: 2), cause: "x")),
            members: 20)
    }

    @Test func `what is remembered of a gate is read as a decoder reads it, however it is damaged`() throws {
        try compare(Self.reading, members: 3)
        try compare(
            LaunchRecord(
                noticeSeen: true, hadPIN: true, mustSignIn: true, signedIn: Self.reading, checkedIn: Self.reading),
            members: 5)
    }

    @Test func `a PIN with guesses that were never made, or of a cost beyond all bounds, is none`() throws {
        let verifier = try PINVerifier.make("2580", cost: PINCost(logRounds: 1), key: SymmetricKey(size: .bits256)).0
        let record = PINRecord(verifier: verifier, former: [verifier], made: Self.reading)
        let bytes = try MessageCoding.encode(record)
        #expect(try MessageCoding.read(PINRecord.self, from: bytes) == record)
        let value = try JSONValue(parsing: bytes)
        let numbers = ["failed", "logRounds", "blockSize", "parallelism"]
        let places = Place.all(in: value).filter { place in numbers.contains { "\(place)".hasSuffix(".\($0)") } }
        #expect(places.count == 7)
        for place in places {
            for number in [Int64.min, -1, .max] {
                let changed = Data(place.text(of: value, as: .literal("\(number)")).utf8)
                #expect(throws: ProtocolError.self, "\(place) \(number)") {
                    try MessageCoding.read(PINRecord.self, from: changed)
                }
            }
        }
    }

    @Test func `what is still to be tried is read as a decoder reads it, however it is damaged`() throws {
        let registered = PendingWork.Registered(
            account: Self.account, source: .loginAndEnroll, failures: 2, nextAttempt: Self.now, planned: Self.now,
            lastStatus: .timedOut)
        try compare(registered, members: 6)
        var work = PendingWork.Record()
        work.registered = [registered]
        work.unenrollments = [
            PendingWork.Unenrollment(
                registrationID: "r", account: "oid-a", discovery: try Self.discovery(), ended: Self.now,
                nextAttempt: Self.now, leaves: true)
        ]
        work.refusals = [RefusedEnvelope(account: "oid-a", code: "expired", time: Self.now)]
        work.remediations = [PendingWork.Remediation(account: Self.account, silent: true)]
        work.latestMoment = Self.now
        work.isMomentInDoubt = false
        (work.outcomes, work.logOrders) = ([], [])
        work.begunCommands = [PendingWork.BegunCommand(id: "c", notAfter: 1)]
        (work.leaving, work.leavingSessions) = (["oid-a"], ["oid-b"])
        work.settledWipes = ["a.json"]
        (work.deviceAccount, work.placeHolder) = ("oid-a", "oid-b")
        try compare(work, members: 17)
    }
}
