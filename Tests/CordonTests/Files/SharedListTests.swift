import Cordon
import CordonIdentity
import CordonProtocol
import Foundation
import Testing

/// Several processes of one app write files of one account: no entry of the list is lost.
@Suite(.timeLimit(.minutes(10))) struct SharedListTests {
    @Test func `two values over one folder lose no file that the other one made`() async throws {
        let device = try Device(inMemory: true)
        defer { withExtendedLifetime(device) {} }
        let first = try await device.enrolled()
        let second = try await device.start()
        let account = device.account.id
        try await first.files.write(Data("old".utf8), as: "old", of: account)
        try await withThrowingTaskGroup { group in
            for number in 0..<40 {
                let protection = number.isMultiple(of: 2) ? first : second
                group.addTask {
                    try await protection.files.write(Data("\(number)".utf8), as: "note \(number)", of: account)
                }
            }
            group.addTask { try await second.files.remove("old", of: account) }
            try await group.waitForAll()
        }
        #expect(try await first.files.names(of: account) == (0..<40).map { "note \($0)" }.sorted())
        #expect(try await second.files.names(of: account) == first.files.names(of: account))
        for number in 0..<40 {
            #expect(try await first.files.read("note \(number)", of: account) == Data("\(number)".utf8))
        }
    }

    @Test func `two processes lose no file that the other one made`() async throws {
        let device = try Device(isLasting: true, inMemory: true)
        defer { withExtendedLifetime(device) {} }
        let protection = try await device.enrolled()
        let account = device.account.id
        let (folder, pin) = (device.folder.path, device.service.root.publicKey.thumbprint)
        async let left: Void = Self.write("left", in: folder, pin: pin)
        async let right: Void = Self.write("right", in: folder, pin: pin)
        _ = await (left, right)
        let names = ["left", "right"].flatMap { name in (0..<20).map { "\(name) \($0)" } }
        #expect(try await protection.files.names(of: account) == names.sorted())
        for name in names { #expect(try await protection.files.read(name, of: account) == Data(name.utf8)) }
    }

    /// One process of the app that makes twenty files; the service is of no use to it.
    private static func write(_ name: String, in folder: String, pin: String) async {
        await #expect(processExitsWith: .success) {
            [name = name as String, folder = folder as String, pin = pin as String] in
            let device = Device(at: URL(filePath: folder))
            let protection = try await device.start(pin: pin)
            try await withThrowingTaskGroup { group in
                for number in 0..<20 {
                    let file = "\(name) \(number)"
                    group.addTask { try await protection.files.write(Data(file.utf8), as: file, of: "oid-a") }
                }
                try await group.waitForAll()
            }
        }
    }
}
