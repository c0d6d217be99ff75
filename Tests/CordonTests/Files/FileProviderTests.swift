import Cordon
import CordonBase
import CordonIdentity
import CordonTestSupport
import Foundation
import Testing

@testable import CordonVault

/// What a file provider of an app hands out and takes in, under the account's rules.
@Suite struct FileProviderTests {
    @Test
    func
        `what a file provider hands out is sealed or readable as the rules say, the stored file stays, and another's is refused (SDK-EX-04)`()
        async throws
    {
        let plain = Data("plan".utf8)
        for (destinations, isSealed) in [("allApps", false), ("managedApps", true)] {
            let device = try Device()
            let protection = try await device.enrolled([
                "appDataEncryptionType": .string("useDeviceSettings"),
                "allowedOutboundDataTransferDestinations": .string(destinations),
            ])
            let folder = try TemporaryFolder.make()
            defer { TemporaryFolder.remove(folder) }
            let (stored, copy) = (folder.appending(path: "stored"), folder.appending(path: "copy"))
            try plain.write(to: stored)
            let owner = Identity.managed(device.account.id)
            try await protection.files.provide(stored, of: owner, toCopy: copy)
            #expect(protection.files.isSealed(copy) == isSealed)
            #expect(protection.files.owner(of: copy) == device.account.id)
            #expect(try Data(contentsOf: stored) == plain)
            #expect(try (Data(contentsOf: copy) == plain) == !isSealed)
            let other = folder.appending(path: "other")
            for stranger in [Identity.personal, .managed("oid-stranger")] {
                await #expect(throws: ProtectionError.self) {
                    try await protection.files.provide(copy, of: stranger, toCopy: other)
                }
            }
            #expect(!FileManager.default.fileExists(atPath: other.path))
        }
    }

    @Test
    func
        `a file provider takes in what the rules let the folder's owner take, and opens what is sealed into a copy (SDK-EX-05)`()
        async throws
    {
        for (sources, isTaken) in [("allApps", true), ("managedApps", false)] {
            let device = try Device()
            let protection = try await device.enrolled([
                "appDataEncryptionType": .string("useDeviceSettings"),
                "allowedInboundDataTransferSources": .string(sources),
                "allowedOutboundDataTransferDestinations": .string("managedApps"),
            ])
            let folder = try TemporaryFolder.make()
            defer { TemporaryFolder.remove(folder) }
            let (file, sealed) = (folder.appending(path: "file"), folder.appending(path: "sealed"))
            let copy = folder.appending(path: "copy")
            try Data("plan".utf8).write(to: file)
            let owner = Identity.managed(device.account.id)
            try await protection.files.provide(file, of: owner, toCopy: sealed)
            #expect(try await protection.files.takeProvided(sealed, for: owner, toCopy: copy) == owner)
            #expect(try Data(contentsOf: copy) == Data("plan".utf8))
            #expect(protection.files.isSealed(sealed) && protection.files.owner(of: copy) == device.account.id)
            let second = folder.appending(path: "second")
            await #expect(throws: ProtectionError.self) {
                _ = try await protection.files.takeProvided(sealed, for: .personal, toCopy: second)
            }
            #expect(!FileManager.default.fileExists(atPath: second.path))
            if isTaken {
                #expect(try await protection.files.takeProvided(file, for: owner, toCopy: second) == owner)
                #expect(protection.files.owner(of: second) == device.account.id)
            } else {
                await #expect(throws: ProtectionError(.denied, "")) {
                    _ = try await protection.files.takeProvided(file, for: owner, toCopy: second)
                }
            }
        }
    }

    @Test(arguments: ["useDeviceSettings", "whenDeviceLocked"])
    func `a copy that a file provider takes in is never readable without its owner noted, also before it is whole`(
        encryption: String
    ) async throws {
        let plain = Data("plan".utf8)
        let device = try Device()
        let protection = try await device.enrolled([
            "appDataEncryptionType": .string(encryption), "allowedInboundDataTransferSources": .string("allApps"),
        ])
        let account = device.account.id
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let (file, copy) = (folder.appending(path: "file"), folder.appending(path: "copy"))
        try plain.write(to: file)
        try Data("before".utf8).write(to: copy)
        let (noted, stray) = (Locked(0), Locked<[String]>([]))
        // At every call to the disk the folder is as a kill would leave it.
        try await DiskFaults.$next.withValue({ _ in
            DiskFaults.$next.withValue(nil) {
                let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
                for name in names where name != "file" {
                    let path = folder.appending(path: name)
                    guard (try? Data(contentsOf: path)) == plain else { continue }
                    if protection.files.owner(of: path) == account {
                        noted.withLock { $0 += 1 }
                    } else {
                        stray.withLock { $0.append(name) }
                    }
                }
            }
            return 0
        }) {
            _ = try await protection.files.takeProvided(file, for: .managed(account), toCopy: copy)
        }
        #expect(stray.withLock { $0 } == [])
        let isSealed = encryption == "whenDeviceLocked"
        #expect(noted.withLock { $0 > 0 } == !isSealed)
        #expect(protection.files.isSealed(copy) == isSealed && protection.files.owner(of: copy) == account)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["copy", "file"])
    }

    @Test(arguments: ["useDeviceSettings", "whenDeviceLocked"])
    func `a folder is neither handed out nor taken in, since what lies in it may be another account's`(
        encryption: String
    ) async throws {
        let device = try Device()
        let accounts = TwoAccounts(device)
        let protection = try await accounts.enrolled(
            on: device,
            [
                "appDataEncryptionType": .string(encryption), "allowedInboundDataTransferSources": .string("allApps"),
                "allowedOutboundDataTransferDestinations": .string("allApps"),
            ],
            [
                "appDataEncryptionType": .string("whenDeviceLocked"),
                "allowedOutboundDataTransferDestinations": .string("none"),
            ])
        let (first, second) = (accounts.first.account.id, accounts.second.account.id)
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let (inside, copy) = (folder.appending(path: "inside"), folder.appending(path: "copy"))
        try FileManager.default.createDirectory(at: inside, withIntermediateDirectories: false)
        let files = ["sealed", "readable"].map { inside.appending(path: $0) }
        for file in files {
            try Data("plan".utf8).write(to: file)
            try await protection.files.protect(file, for: second)
        }
        try await protection.files.decrypt(files[1])
        for identity in [Identity.managed(first), .personal] {
            await #expect(throws: ProtectionError(.vault, "")) {
                _ = try await protection.files.takeProvided(inside, for: identity, toCopy: copy)
            }
            await #expect(throws: ProtectionError(.vault, "")) {
                try await protection.files.provide(inside, of: identity, toCopy: copy)
            }
            #expect(!FileManager.default.fileExists(atPath: copy.path))
        }
        #expect(files.allSatisfy { protection.files.owner(of: $0) == second })
    }

    @Test func `an account's files are not listed while its gate is closed, personal ones always are (SDK-EX-06)`()
        async throws
    {
        let device = try Device()
        let protection = try await device.enrolled(["pinRequired": .bool(true)])
        #expect(!protection.gate.isOpen(for: device.account.id))
        #expect(throws: ProtectionError(.denied, "")) {
            try protection.files.requireProviding(of: .managed(device.account.id))
        }
        try protection.files.requireProviding(of: .personal)
    }
}
