import Cordon
import CordonIdentity
import CordonPolicy
import CordonVault
import Foundation
import Testing

/// SDK-FP-04, CQ-20: a file belongs to the identity that the work that makes it is for, and no call names one.
///
/// Each in a process of its own where work without an identity is asked about, because another test may declare a process identity.
@Suite(.timeLimit(.minutes(10))) struct OwnWorkTests {
    private struct Stage {
        let device: Device
        let protection: AppProtection
        let folder: URL
        let two: TwoAccounts

        init() async throws {
            device = try Device()
            two = TwoAccounts(device)
            folder = device.folder.appending(path: "own")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            protection = try await two.enrolled(on: device, [:], [:]) { [folder] in $0.protectedRoots = [folder] }
        }

        func path(_ name: String) -> URL { folder.appending(path: name) }

        /// A sealed file with a text in it.
        func make(_ name: String, _ text: String, for account: AccountID) async throws -> URL {
            let path = path(name)
            try Data(text.utf8).write(to: path)
            try await protection.files.protect(path, for: account)
            return path
        }

        func plain(_ name: String, _ text: String) throws -> URL {
            let path = path(name)
            try Data(text.utf8).write(to: path)
            return path
        }

        func text(_ path: URL) async throws -> String {
            guard protection.files.isSealed(path) else {
                return String(decoding: try Data(contentsOf: path), as: UTF8.self)
            }
            let file = try await protection.files.open(path, writing: false)
            defer { try? file.close() }
            var bytes = Data(count: Int(try file.size()))
            let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
            return String(decoding: bytes.prefix(count), as: UTF8.self)
        }
    }

    /// Writes at a file's end, and closes it.
    private static func append(_ text: String, to file: SealedFile) throws {
        try [UInt8](text.utf8).withUnsafeBytes { try file.write($0, at: try file.size()) }
        try file.close()
    }

    private func code(_ work: () async throws -> Void) async -> ProtectionError.Code? {
        do {
            try await work()
            return nil
        } catch { return (error as? ProtectionError)?.code }
    }

    @Test func `a file that work makes is its account's, and stays so when it is opened, appended to and renamed`()
        async throws
    {
        let stage = try await Stage()
        let (protection, path) = (stage.protection, stage.path("log"))
        try await IdentityContext.with(.managed("oid-b")) {
            try Self.append("one", to: await protection.files.create(path))
            try await protection.files.write(Data("a note".utf8), as: "note")
        }
        #expect(protection.files.owner(of: path) == "oid-b" && protection.files.isSealed(path))
        #expect(try await protection.files.read("note", of: "oid-b") == Data("a note".utf8))
        #expect(try await protection.files.names(of: "oid-a").isEmpty)
        // Another account's work appends; the file does not become theirs.
        try await IdentityContext.with(.managed("oid-a")) {
            try Self.append(" two", to: await protection.files.open(path, writing: true))
        }
        #expect(try await stage.text(path) == "one two")
        #expect(protection.files.owner(of: path) == "oid-b")
        let name = stage.path("renamed")
        try FileManager.default.moveItem(at: path, to: name)
        #expect(protection.files.owner(of: name) == "oid-b")
        // Opened anew from nothing, it is the new work's (SDK-FP-04).
        try await IdentityContext.with(.managed("oid-a")) {
            try Self.append("", to: await protection.files.create(name))
        }
        #expect(protection.files.owner(of: name) == "oid-a")
    }

    @Test func `personal work and a stranger's make no sealed file`() async throws {
        let stage = try await Stage()
        let (protection, path) = (stage.protection, stage.path("log"))
        for identity in [Identity.personal, .managed("oid-stranger")] {
            let refusals = await IdentityContext.with(identity) {
                [
                    await code { _ = try await protection.files.create(path) },
                    await code { try await protection.files.write(Data("x".utf8), as: "x") },
                ]
            }
            #expect(refusals == [.notEnrolled, .notEnrolled])
        }
        #expect(!FileManager.default.fileExists(atPath: path.path))
    }

    @Test func `work whose identity was lost makes nothing`() async {
        await #expect(processExitsWith: .success) {
            let stage = try await Stage()
            let (protection, path) = (stage.protection, stage.path("log"))
            let refusal = await IdentityContext.with(.managed("oid-a")) {
                await Task.detached { () -> ProtectionError.Code? in
                    do throws(ProtectionError) {
                        _ = try await protection.files.create(path)
                        return nil
                    } catch { return error.code }
                }.value
            }
            #expect(refusal == .identityLost)
        }
    }

    @Test func `a replacement keeps the target's owner, and in a scope of its own is its work's`() async throws {
        let stage = try await Stage()
        let protection = stage.protection
        let target = try await stage.make("target", "old", for: "oid-a")
        try await protection.files.replace(target, by: stage.plain("new", "from nobody"))
        #expect(protection.files.owner(of: target) == "oid-a" && protection.files.isSealed(target))
        #expect(try await stage.text(target) == "from nobody")
        #expect(!FileManager.default.fileExists(atPath: stage.path("new").path))

        let other = try await stage.make("other", "from b", for: "oid-b")
        try await protection.files.replace(target, by: other)
        #expect(protection.files.owner(of: target) == "oid-a")
        #expect(try await stage.text(target) == "from b")

        let third = try stage.plain("third", "as b")
        try await IdentityContext.with(.managed("oid-b")) { try await protection.files.replace(target, by: third) }
        #expect(protection.files.owner(of: target) == "oid-b" && protection.files.isSealed(target))
        #expect(try await stage.text(target) == "as b")
    }

    @Test func `an account's file that takes the place of one without an owner stays the account's`() async throws {
        let stage = try await Stage()
        let protection = stage.protection
        for name in ["nobody's", "new"] {
            let source = try await stage.make("source", "the plan", for: "oid-a")
            let target = name == "new" ? stage.path(name) : try stage.plain(name, "mine")
            try await protection.files.replace(target, by: source)
            #expect(protection.files.owner(of: target) == "oid-a" && protection.files.isSealed(target))
            #expect(try await stage.text(target) == "the plan")
        }
    }

    @Test func `personal work neither takes an account's file nor replaces one`() async throws {
        let stage = try await Stage()
        let protection = stage.protection
        let theirs = try await stage.make("theirs", "the plan", for: "oid-a")
        let mine = try stage.plain("mine", "my day")
        let refusals = await IdentityContext.with(.personal) {
            [
                await code { try await protection.files.replace(mine, by: theirs) },
                await code { try await protection.files.replace(theirs, by: mine) },
                await code { try await protection.files.replace(stage.path("new"), by: mine) },
            ]
        }
        #expect(refusals == [.notEnrolled, .notEnrolled, nil])
        #expect(try await stage.text(theirs) == "the plan")
        #expect(protection.files.owner(of: stage.path("new")) == nil)
    }

    @Test func `a folder takes no file's place, whoever's files lie in it`() async throws {
        let stage = try await Stage()
        let (protection, folder) = (stage.protection, stage.path("folder"))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let theirs = try await stage.make("folder/theirs", "the plan", for: "oid-b")
        try await protection.files.decrypt(theirs)
        for identity in [nil, Identity.personal, .managed("oid-a")] {
            let refusal = await IdentityContext.with(identity) {
                await code { try await protection.files.replace(stage.path("new"), by: folder) }
            }
            #expect(refusal == .vault, "\(String(describing: identity))")
        }
        #expect(protection.files.owner(of: theirs) == "oid-b")
    }
}
