import CordonIdentity
import CordonSignIn
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// The mode comes in any order of its parts, and goes with all that it left (SI-017, SI-019).
@Suite struct ModeTests {
    @Test(arguments: [true, false])
    func `a mode that is turned off leaves neither account nor registration, and turning it on brings neither back`(
        byProfile: Bool
    ) async throws {
        let stand = try BrokerStand()
        let before = try await BrokerApp("notes", at: stand.joinedBroker())
        let device = try #require(await before.ask(.deviceInfo).device?.registration?.deviceID)
        let token = try await before.signIn(.worker, at: stand.provider)
        let key = await before.ask(.accountKey).key
        let off = try BrokerStand {
            if byProfile { $0.profileSaysShared = false } else { $0.managedConfigurationSaysShared = false }
        }
        let meanwhile = try await BrokerApp("notes", at: off.broker(folder: stand.folder))
        let missing = try #require(await meanwhile.ask(.deviceInfo).device?.missing)
        #expect(missing == [byProfile ? .profile : .managedConfiguration, .registration])
        #expect(await meanwhile.silent(.worker).token == nil)
        let secrets = try FileManager.default.contentsOfDirectory(atPath: stand.folder.appending(path: "secrets").path)
        #expect(!secrets.contains { $0.contains("broker-seed") || $0.contains("broker-device") }, "\(secrets)")
        let again = try await stand.broker()
        #expect(try await #require(BrokerApp("notes", at: again).ask(.deviceInfo).device).missing == [.registration])
        let administrator = try await BrokerApp("x", at: again, user: 0)
        let joined = await administrator.attended(.deviceJoin, as: .administrator, at: stand.provider)
        #expect(joined.device?.registration?.deviceID != device)
        let after = try await BrokerApp("notes", at: again)
        let now = try await after.current()
        #expect(now.current == nil && now.owed.map(\.session) == [token.session])
        _ = await after.report(.done, of: token.session)
        try await after.signIn(.worker, at: stand.provider)
        #expect(await after.ask(.accountKey).key != key)
    }

    @Test func `a device that joins says so before the administrator signs in, and again when it has joined`()
        async throws
    {
        let stand = try BrokerStand()
        let broker = try await stand.broker()
        let listener = try await BrokerApp("notes", at: broker)
        _ = await listener.ask(.eventsSubscribe)
        let administrator = try await BrokerApp("x", at: broker, user: 0)
        let joining = Task {
            await administrator.attended(.deviceJoin, as: .administrator, at: stand.provider)
        }
        try await until { !administrator.pages.isEmpty }
        #expect(listener.events.map(\.type) == [.registrationStart])
        #expect(await joining.value.device?.isShared == true)
        #expect(listener.events.map(\.type) == [.registrationStart, .registered])
    }

    @Test func `the method that an administrator prefers goes from the file to every app`() async throws {
        let text = #"{"issuer": "https://id.contoso.example", "preferredAuthenticationMethod": "qrpin"}"#
        let file = try BrokerConfiguration(json: Data(text.utf8), place: "broker.json")
        let stand = try BrokerStand { $0.preferredAuthenticationMethod = file.preferredAuthenticationMethod }
        let broker = try await stand.joinedBroker()
        let told = try await BrokerApp("notes", at: broker).ask(.deviceInfo).device
        #expect(told?.preferredAuthenticationMethod == "qrpin")
        let silent = try await BrokerStand().broker()
        #expect(try await BrokerApp("notes", at: silent).ask(.deviceInfo).device?.preferredAuthenticationMethod == nil)
    }

    /// What each start of the broker knows, in the order in which an MDM may deliver it.
    @Test(arguments: [
        ["join", "profile", "configuration"], ["join", "configuration", "profile"],
        ["profile", "join", "configuration"], ["profile", "configuration", "join"],
        ["configuration", "join", "profile"], ["configuration", "profile", "join"],
    ])
    func `whatever comes first, the device is shared in the end`(order: [String]) async throws {
        let folder = TemporaryFolder.newPath()
        defer { try? FileManager.default.removeItem(at: folder) }
        var present: Set<String> = []
        for part in order {
            present.insert(part)
            let known = present
            let stand = try BrokerStand {
                $0.profileSaysShared = known.contains("profile")
                $0.managedConfigurationSaysShared = known.contains("configuration")
            }
            let broker = try await stand.broker(folder: folder)
            if part == "join" {
                let administrator = try await BrokerApp("x", at: broker, user: 0)
                let joined = await administrator.attended(.deviceJoin, as: .administrator, at: stand.provider)
                #expect(joined.error == nil)
            }
            let device = try #require(await BrokerApp("notes", at: broker).ask(.deviceInfo).device)
            #expect(device.isShared == (known.count == 3), "\(order), after \(part): \(device.missing)")
        }
    }
}
