import Cordon
import CordonIdentity
import CordonPolicy
import CordonTestSupport
import Foundation
import Testing

/// What an app has stored, in wrong forms: every member of what is inside, sealed as only the app itself could, and the file around it. A start
/// goes on without it or says why not; none ends the process, and none opens what was closed.
@Suite(.timeLimit(.minutes(10))) struct HostileStateTests {
    /// What is done to a file, which is given where it lies.
    private typealias Change = (about: String, apply: (URL) throws -> Void)

    /// Looks at a copy of a device for every wrong form of each state file of a folder, and last at one as it was.
    ///
    /// - Parameter keys: The device whose root key seals the files; nil for the same one.
    private func sweep(
        _ folder: String, of device: Device, sealedBy keys: Device? = nil,
        _ look: (URL, _ wrong: String?) async throws -> Void
    ) async throws {
        let place = try TemporaryFolder.make(inMemory: true)
        defer { TemporaryFolder.remove(place) }
        let whole = place.appending(path: "whole")
        try TemporaryFolder.copy(device.folder, to: whole)
        let names = try FileManager.default.contentsOfDirectory(atPath: whole.appending(path: folder).path)
        var looked = 0
        for name in names.sorted() where name.hasSuffix(".json") {
            let file = folder + "/" + name
            for change in try changes(of: whole.appending(path: file), sealedBy: keys ?? device) {
                let copy = place.appending(path: "\(looked)")
                try FileManager.default.copyItem(at: whole, to: copy)
                // What is no JSON no app has sealed.
                if (try? change.apply(copy.appending(path: file))) != nil {
                    try await look(copy, "\(name) \(change.about)")
                    looked += 1
                }
                TemporaryFolder.remove(copy)
            }
        }
        #expect(looked > 15, "\(folder)")
        try await look(whole, nil)
    }

    private func changes(of file: URL, sealedBy keys: Device) throws -> [Change] {
        let outer = try Data(contentsOf: file)
        var changes: [Change] = WrongBody.allCases.map { body in
            ("\(body)", { try body.bytes(of: outer).write(to: $0) })
        }
        if let value = try? JSONValue(parsing: outer) {
            changes += forms(of: value).map { about, text in (about, { try Data(text.utf8).write(to: $0) }) }
        }
        if let contents = try? keys.contents(ofState: file) {
            let value = try JSONValue(parsing: contents)
            changes += forms(of: value).map { about, text in (about, { try keys.seal(text, inState: $0) }) }
        }
        return changes
    }

    private func forms(of value: JSONValue) -> [(about: String, text: String)] {
        Place.all(in: value).enumerated().flatMap { index, place in
            WrongForm.some(at: index).map { ("\(place) \($0)", place.text(of: value, as: $0)) }
        }
    }

    @Test(arguments: ["data/registrations", "data/life", "data"])
    func `nothing that is stored ends a start, or the work after it, or loosens a rule`(folder: String) async throws {
        let device = try Device(isLasting: true, inMemory: true)
        let account = device.account.id
        let protection = try await device.enrolled()
        try await protection.settings.change { $0.authority = "https://older.example" }
        try await protection.settings.change { settings in
            settings.authority = "https://own.example"
            settings.accentColor = "#00FF00"
            settings.scrubbedKeys = ["costCentre"]
            settings.telemetryDisabled = true
        }
        await protection.checkIn(account)
        _ = await protection.launch(account)
        try await sweep(folder, of: device) { copy, wrong in
            guard let started = try? await device.start({ $0.lie(in: copy) }) else {
                #expect(wrong != nil, "the control")
                return
            }
            #expect(!device.mayPrint(started), "\(wrong ?? "")")
            _ = await started.launch(account)
            await started.checkIn(account)
            await started.performDueWork()
            _ = started.diagnostics.report().lines
            _ = try? await started.settings.change { $0.accentColor = nil }
            #expect(!device.mayPrint(started), "\(wrong ?? "")")
            #expect(wrong != nil || started.enrolledAccounts == [device.account], "the control")
        }
    }

    @Test func `what the device's management gives in any wrong form ends no start, and loosens no rule`() async throws
    {
        let device = try Device(inMemory: true)
        _ = try await device.enrolled()
        let account = device.account.id
        for (index, form) in WrongForm.all.enumerated() {
            guard case .literal(let text) = form, let value = try? JSONValue(parsing: Data(text.utf8)) else { continue }
            let started = try await device.start { configuration in
                configuration.managedConfiguration = [
                    "IntuneMAMOID": index % 2 == 0 ? value : .string(account.rawValue), "CordonUserID": value,
                    CertificatePins.configurationKey: value, AppConfiguration.managedBrowserKey: value,
                ]
            }
            _ = await started.enrollments.deviceAccount()
            let configuration = started.rules.appConfiguration(of: account)
            for key in configuration.keys { _ = configuration.string(for: key, .min) }
            _ = started.diagnostics.report().lines
            #expect(!device.mayPrint(started), "\(form)")
        }
    }

    @Test(arguments: ["data/launch", "data/pins", "data/guards"])
    func `nothing that is stored of a gate opens it to who has no PIN and does not sign in`(folder: String) async throws
    {
        let stand = try await GuardStand()
        _ = try await stand.guarded()
        let house = stand.house
        try await sweep(folder, of: house.device) { copy, wrong in
            guard let started = try? await house.start({ $0.lie(in: copy) }) else {
                #expect(wrong != nil, "the control")
                return
            }
            let isRight = wrong == nil
            await house.person.set { person in
                person.pins = [.entered(isRight ? "2580" : "1111"), .cancelled]
                person.signIns = [.cancelled]
            }
            #expect(await stand.reads(started) == isRight, "\(wrong ?? "")")
            let text = try? await started.files.read("note", of: stand.account)
            #expect(isRight == (text != nil), "\(wrong ?? "")")
            await started.performDueWork()
        }
    }

    @Test func `nothing that is stored of a wipe gives the account back`() async throws {
        let device = try Device(isLasting: true, inMemory: true)
        let protection = try await device.enrolled(["printBlocked": .bool(false)])
        await device.sessions.set { $0.endFailure = HeldSessions.refusal }
        #expect(await protection.failureOfWiping(device.account.id) == .stateUnwritable)
        await device.sessions.set { $0.endFailure = nil }
        try await sweep("data/wipes", of: device) { copy, wrong in
            guard let started = try? await device.start({ $0.lie(in: copy) }) else {
                #expect(wrong != nil, "the control")
                return
            }
            for isDue in [true, false] {
                #expect(started.enrolledAccounts.isEmpty && !device.mayPrint(started), "\(wrong ?? "")")
                if isDue { await started.performDueWork() }
            }
        }
    }

    @Test func `nothing that is stored for a group shows more of an account's notifications`() async throws {
        let (device, keys) = (try Device(isLasting: true, inMemory: true), try Device())
        @Sendable func group(in folder: URL) -> SharingGroup {
            SharingGroup(directory: folder.appending(path: "group"), keyStore: keys.keyStore)
        }
        try await device.publish(["notificationRestriction": .string("blockOrganizationalData")])
        let protection = try await device.start { $0.sharingGroup = group(in: device.folder) }
        #expect(await protection.enroll(device.account) == .newPolicies)
        try await sweep("group/values", of: device, sealedBy: keys) { copy, wrong in
            let levels = try NotificationLevels(
                group(in: copy), dataDirectory: copy.appending(path: "extension"))
            let level = await levels.level(for: device.account.id)
            #expect(level != .allow && (wrong != nil || level == .blockOrganizationalData), "\(wrong ?? "")")
            let started = try? await device.start { configuration in
                configuration.lie(in: copy)
                configuration.sharingGroup = group(in: copy)
            }
            try? await started?.outlets.publishNotificationLevels()
        }
    }
}
