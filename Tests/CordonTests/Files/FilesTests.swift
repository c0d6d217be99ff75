import Cordon
import CordonBase
import CordonPolicy
import CordonProtocol
import Foundation
import Testing

@testable import CordonVault

@Suite struct FilesTests {
    @Test func `files and their names are sealed, and survive a restart`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        let contents = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        try await protection.files.write(contents, as: "quarterly-figures", of: device.account.id)
        #expect(try await protection.files.names(of: device.account.id) == ["quarterly-figures"])
        let folder = device.folder.appending(path: "data")
        let names = try #require(FileManager.default.enumerator(atPath: folder.path))
        for case let name as String in names {
            #expect(!name.contains("quarterly") && !name.contains("oid-a"))
            let bytes = FileManager.default.contents(atPath: folder.appending(path: name).path) ?? Data()
            #expect(bytes.range(of: Data("quarterly-figures".utf8)) == nil)
        }
        let restarted = try await device.start()
        #expect(try await restarted.files.read("quarterly-figures", of: device.account.id) == contents)
    }

    @Test func `files that many tasks make at once are all in the list, and removals undo none of them`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        let account = device.account.id
        try await protection.files.write(Data("old".utf8), as: "old", of: account)
        try await withThrowingTaskGroup { group in
            for number in 0..<24 {
                group.addTask {
                    try await protection.files.write(Data("\(number)".utf8), as: "note \(number)", of: account)
                }
            }
            group.addTask { try await protection.files.remove("old", of: account) }
            try await group.waitForAll()
        }
        #expect(try await protection.files.names(of: account) == (0..<24).map { "note \($0)" }.sorted())
        for number in 0..<24 {
            #expect(try await protection.files.read("note \(number)", of: account) == Data("\(number)".utf8))
        }
    }

    @Test func `a file opens for random access at plaintext offsets`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        let file = try await protection.files.open("log", of: device.account.id, writing: true)
        try [UInt8]("tail".utf8).withUnsafeBytes { try file.write($0, at: 70_000) }
        #expect(try file.size() == 70_004)
        try file.sync()
        try file.close()
        #expect(try await protection.files.read("log", of: device.account.id).suffix(4) == Data("tail".utf8))
    }

    @Test func `a removed file is gone, and a shorter text replaces a longer one whole`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        try await protection.files.write(Data("a long first text".utf8), as: "n", of: device.account.id)
        try await protection.files.write(Data("short".utf8), as: "n", of: device.account.id)
        #expect(try await protection.files.read("n", of: device.account.id) == Data("short".utf8))
        try await protection.files.remove("n", of: device.account.id)
        #expect(try await protection.files.names(of: device.account.id).isEmpty)
        await #expect(throws: ProtectionError(.nothingThere, "")) {
            try await protection.files.read("n", of: device.account.id)
        }
    }

    @Test func `a list of files that cannot be read is not replaced by a new one`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        let account = device.account.id
        try await protection.files.write(Data("plan".utf8), as: "plan", of: account)
        let folder = device.folder.appending(path: "data/files").appending(
            path: try #require(device.files(in: "files").first))
        let list = folder.appending(path: "directory")
        let aside = folder.appending(path: "aside")
        try FileManager.default.moveItem(at: list, to: aside)
        // A link to itself: there is something, and it does not open.
        try FileManager.default.createSymbolicLink(at: list, withDestinationURL: list)
        await #expect(throws: ProtectionError(.vault, "")) {
            try await protection.files.write(Data("another".utf8), as: "another", of: account)
        }
        await #expect(throws: ProtectionError(.vault, "")) { try await protection.files.names(of: account) }
        try FileManager.default.removeItem(at: list)
        try FileManager.default.moveItem(at: aside, to: list)
        #expect(try await protection.files.read("plan", of: account) == Data("plan".utf8))
    }

    @Test func `a file's name is on the disk before a write says that it is done`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        let calls = Locked<[String]>([])
        try await DiskFaults.$next.withValue({ call in
            calls.withLock { $0.append(call) }
            return 0
        }) {
            try await protection.files.open("log", of: device.account.id, writing: true).close()
        }
        let all = calls.withLock { $0 }
        let named = all.indices.filter { ["rename", "link"].contains(all[$0]) }
        #expect(named.count == 2, "the list, the file: \(all)")
        #expect(
            all[try #require(named.last)...].contains("sync"),
            "the folder is synced after the file took its place: \(all)")
    }

    @Test func `an account that is not enrolled has no files`() async throws {
        let device = try Device()
        let protection = try await device.start()
        await #expect(throws: ProtectionError(.notEnrolled, "")) {
            try await protection.files.names(of: "oid-b")
        }
    }
}
