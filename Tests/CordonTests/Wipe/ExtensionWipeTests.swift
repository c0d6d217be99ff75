import Cordon
import CordonBase
import CordonIdentity
import CordonPolicy
import Foundation
import Testing

/// Wipes that an extension meets: it ends the key, and its app does the rest (decision 151).
@Suite(.timeLimit(.minutes(10))) struct ExtensionWipeTests {
    private let ada: AccountID = "oid-a"

    @Test func `an extension ends the key of a wipe, and leaves everything else to its app`() async throws {
        let (device, calls, steps) = (try Device(), Locked(0), Locked<[String]>([]))
        _ = try await device.enrolled()
        func start(asExtension isExtension: Bool) async throws -> AppProtection {
            try await device.start { configuration in
                configuration.isExtension = isExtension
                configuration.wipeObserver = { step in steps.withLock { $0.append(step) } }
                configuration.wipeHook = { _ in
                    calls.withLock { $0 += 1 }
                    return .removed
                }
            }
        }
        let inExtension = try await start(asExtension: true)
        #expect(await inExtension.failureOfWiping(ada) == .wipeUnderWay)
        #expect(inExtension.enrolledAccounts.isEmpty && device.keys.isEmpty)
        // Nor does one that is started later sign a receipt for what only the app can remove, or begin anew.
        steps.withLock { $0 = [] }
        #expect(try await start(asExtension: true).enrolledAccounts.isEmpty)
        #expect(steps.withLock { $0.isEmpty })
        #expect(await device.sessions.ended.isEmpty)
        #expect(try await device.receipts().isEmpty && calls.withLock { $0 } == 0)

        let app = try await start(asExtension: false)
        await app.deliverReceipts()
        #expect(await device.sessions.ended == [ada])
        let receipts = try await device.receipts()
        #expect(Set(receipts.map(\.commandID)).count == 1 && calls.withLock { $0 } == 1)
        #expect(receipts.allSatisfy { $0.succeeded && $0.destroyedKeyIDs.count == 1 })
    }

    @Test func `a receipt counts the same files whether the app or its extension has begun the wipe`() async throws {
        func countFiles(inExtension: Bool) async throws -> Set<Int> {
            let device = try Device()
            let own = device.folder.appending(path: "own")
            try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
            try await device.publish(["appDataEncryptionType": .string("whenDeviceLocked")])
            let app = try await device.start { $0.protectedRoots = [own] }
            #expect(await app.enroll(device.account) == .newPolicies)
            // An extension does not know the app's own folders.
            let draft = own.appending(path: "draft")
            try Data("draft".utf8).write(to: draft)
            try await app.files.protect(draft, for: ada)
            try await app.files.write(Data("plan".utf8), as: "plan", of: ada)
            if inExtension {
                let part = try await device.start { $0.isExtension = true }
                #expect(await part.failureOfWiping(ada) == .wipeUnderWay)
                #expect(device.keys.isEmpty)
                await (try device.start { $0.protectedRoots = [own] }).deliverReceipts()
            } else {
                try await app.wipe(ada)
            }
            #expect(!FileManager.default.fileExists(atPath: draft.path))
            return Set(try await device.receipts().map(\.files))
        }
        let byApp = try await countFiles(inExtension: false)
        #expect(byApp.count == 1 && byApp.allSatisfy { $0 > 1 })
        #expect(try await countFiles(inExtension: true) == byApp)
    }

    @Test func `who meets a wipe at an extension's gate is told that the account's data goes`() async throws {
        let house = try await Gatehouse()
        house.facts.withLock { $0.rooted = true }
        _ = try await house.enrolled(["appActionIfDeviceComplianceRequired": .string("wipe")])
        let inExtension = try await house.start { $0.isExtension = true }
        let outcome = await inExtension.launch(ada)
        #expect(outcome.result == .wiped && outcome.steps.contains(LaunchStep(.wipe, .unavailable)))
        #expect(await house.person.shown(.removed).count == 1)
        #expect(house.device.keys.isEmpty)
    }
}
