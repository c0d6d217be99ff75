import Cordon
import CordonIdentity
import CordonPolicy
import CordonVault
import Testing

/// SDK-FP-18: the policy's level for files reaches the system's protection, and no more than the app's own cap.
@Suite struct FileProtectionTests {
    private static let account = AccountID("oid-a")

    @Test(arguments: [
        ("whenDeviceLocked", FileProtectionLevel.complete),
        ("whenDeviceLockedExceptOpenFiles", .completeUnlessOpen),
        ("afterDeviceRestart", .completeUntilFirstUserAuthentication),
        ("useDeviceSettings", .completeUntilFirstUserAuthentication),
    ])
    func `the policy's level is the system's class`(level: String, expected: FileProtectionLevel) async throws {
        let device = try Device()
        let protection = try await device.enrolled(["appDataEncryptionType": .string(level)])
        #expect(protection.files.fileProtection(of: Self.account) == expected)
    }

    @Test func `an app that works behind the lock screen caps what the policy asks for`() async throws {
        let device = try Device()
        _ = try await device.enrolled(["appDataEncryptionType": .string("whenDeviceLocked")])
        let capped = try await device.start {
            $0.settings.maximumFileProtection = .completeUntilFirstUserAuthentication
        }
        #expect(capped.files.fileProtection(of: Self.account) == .completeUntilFirstUserAuthentication)
    }

    @Test func `a level changes while the app runs, and is the strictest for an account without rules`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(["appDataEncryptionType": .string("afterDeviceRestart")])
        try await device.publish(["appDataEncryptionType": .string("whenDeviceLockedExceptOpenFiles")])
        await protection.checkIn(Self.account)
        #expect(protection.files.fileProtection(of: Self.account) == .completeUnlessOpen)
        #expect(protection.files.fileProtection(of: "nobody") == .complete)
    }

    @Test func `other rules of encryption are told once, and a wish that stays is not (SDK-FP-02)`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(["appDataEncryptionType": .string("afterDeviceRestart")])
        let events = EventCatch(protection)
        let isNews: @Sendable (ProtectionEvent) -> Bool = { $0 == .dataProtectionChanged(account: Self.account) }
        try await device.publish([
            "appDataEncryptionType": .string("afterDeviceRestart"), "printBlocked": .bool(true),
        ])
        await protection.checkIn(Self.account)
        #expect(await events.count(where: isNews) == 0)
        for (level, count) in [("useDeviceSettings", 1), ("whenDeviceLocked", 2), ("whenDeviceLocked", 2)] {
            try await device.publish(["appDataEncryptionType": .string(level)])
            await protection.checkIn(Self.account)
            #expect(await events.count(where: isNews) == count)
        }
        // An account that no rules target any more need not be sealed.
        await device.service.set { $0.policy = nil }
        await protection.checkIn(Self.account)
        #expect(await events.count(where: isNews) == 3)
    }

    @Test func `a file provider hands out sealed copies where the rules ask for sealing or keep data in (SDK-EX-04)`()
        async throws
    {
        let open: [String: JSONValue] = [
            "appDataEncryptionType": .string("useDeviceSettings"),
            "allowedOutboundDataTransferDestinations": .string("allApps"),
        ]
        let closed = ["allowedOutboundDataTransferDestinations": JSONValue.string("managedApps")]
        let sealed = ["appDataEncryptionType": JSONValue.string("whenDeviceLocked")]
        for (rules, isSealed) in [
            (open, false), (open.merging(closed) { $1 }, true), (open.merging(sealed) { $1 }, true),
        ] {
            let device = try Device()
            let protection = try await device.enrolled(rules)
            #expect(protection.rules.mustFileProviderEncrypt(for: .managed(device.account.id)) == isSealed, "\(rules)")
            #expect(!protection.rules.mustFileProviderEncrypt(for: .personal))
            #expect(protection.rules.mustFileProviderEncrypt(for: .managed("oid-stranger")))
        }
    }
}
