import ArgumentParser
import CordonPolicy
import CordonTestSupport
import Foundation
import Testing

@testable import CordonCommand

/// What counts as a folder of policies, whose its files are, and where a pull writes.
@Suite struct PolicyFolderTests {
    private static let pilot = "policies/pilot.json"

    private func withFolder(_ body: (PolicyFilesFixture) async throws -> Void) async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let fixture = PolicyFilesFixture(folder: folder.appending(path: "files", directoryHint: .isDirectory))
        try FileManager.default.createDirectory(at: fixture.folder, withIntermediateDirectories: true)
        await fixture.service.keep("T_1", ["displayName": "Pilot", "printBlocked": false])
        await fixture.service.keep("T_2", ["displayName": "Rest", "printBlocked": false])
        try await body(fixture)
    }

    @Test func `a folder that is a link or a file is not an empty one`() async throws {
        try await withFolder { fixture in
            let files = FileManager.default
            _ = try await fixture.pull()
            func refusal() async -> CommandFailure? { await fixture.refused { _ = try await fixture.plan() } }
            try fixture.move("policies", to: "kept")
            for target in ["/nonexistent/x", fixture.place("kept")] {
                try files.createSymbolicLink(atPath: fixture.place("policies"), withDestinationPath: target)
                let linked = await refusal()
                #expect(linked?.status == .badInput && linked?.message.hasPrefix("policies: ") == true, "\(target)")
                try files.removeItem(atPath: fixture.place("policies"))
            }
            try Data("x".utf8).write(to: fixture.folder.appending(path: "policies"))
            #expect(await refusal()?.status == .badInput)
            try files.removeItem(atPath: fixture.place("policies"))
            try fixture.move("kept", to: "policies")
            #expect(try await fixture.plan().isEmpty, "the control")
        }
    }

    @Test(.enabled(if: getuid() != 0, "root lists any folder"))
    func `a folder that cannot be listed is not an empty one`() async throws {
        try await withFolder { fixture in
            _ = try await fixture.pull()
            #expect(chmod(fixture.place("policies"), 0o300) == 0)
            let refused = await fixture.refused { _ = try await fixture.plan() }
            #expect(chmod(fixture.place("policies"), 0o700) == 0)
            #expect(refused?.status == .badInput && refused?.message.hasPrefix("policies: ") == true)
            #expect(try await fixture.plan().isEmpty, "the control")
        }
    }

    @Test(arguments: ["x\u{1}.json", "x\n.json", "x\u{7F}.json", "x\u{85}.json"])
    func `a file whose name has control characters is refused before anything is applied`(name: String) async throws {
        try await withFolder { fixture in
            _ = try await fixture.pull()
            try fixture.edit(Self.pilot, ["printBlocked": true])
            try await fixture.plan()
            let file = "policies/\(name)"
            try fixture.write(
                file, ["@odata.type": "#microsoft.graph.iosManagedAppProtection", "displayName": "New"])
            for refused in [
                await fixture.refused { _ = try await fixture.apply() },
                await fixture.refused { _ = try await fixture.plan() },
            ] { #expect(refused?.status == .badInput && refused?.message.contains(file) == true) }
            #expect(await fixture.service.writes == [])
            try FileManager.default.removeItem(atPath: fixture.place(file))
            #expect(try await fixture.plan().steps.map(\.file) == [Self.pilot], "the control")
        }
    }

    @Test func `an outermost folder that leads nowhere, or is a file, is none, and a link to a folder is one`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let (link, file) = (folder.appending(path: "link").path, folder.appending(path: "file"))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/nonexistent/x")
        try Data("x".utf8).write(to: file)
        for path in [link, file.path] {
            #expect(throws: CommandFailure.self) { try PolicyFolder(path) }
        }
        try FileManager.default.removeItem(atPath: link)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path)
        #expect(try PolicyFolder(link).files.isEmpty)
        #expect(try PolicyFolder(folder.appending(path: "none").path).files.isEmpty)
    }

    @Test func `all files of a kind are removed only where that is said`() async throws {
        try await withFolder { fixture in
            _ = try await fixture.pull()
            try FileManager.default.removeItem(atPath: fixture.place("policies"))
            let refused = await fixture.refused { _ = try await fixture.plan() }
            #expect(refused?.status == .refused && refused?.hint?.contains("--allow-empty") == true)
            #expect(refused?.message == "no files left in policies; this would remove 2 from the service")
            #expect(try PolicyPlanCommand.parse(["policies", "--allow-empty"]).allowEmpty)
            let plan = try await fixture.plan(allowingEmpty: true)
            #expect(plan.steps.map(\.action) == [.remove, .remove])
            #expect(try await fixture.apply().applied.count == 2)
            #expect(try await fixture.plan().isEmpty, "there is nothing to lose any more")
        }
    }

    @Test func `a file that was given another name, or another folder, stays what it is`() async throws {
        try await withFolder { fixture in
            _ = try await fixture.pull()
            try fixture.move(Self.pilot, to: "policies/ward-3.json")
            try fixture.move("policies/rest.json", to: "configurations/rest.json")
            let plan = try await fixture.plan()
            #expect(plan.isEmpty)
            #expect(
                plan.renamed == [
                    "policies/ward-3.json": Self.pilot, "configurations/rest.json": "policies/rest.json",
                ])
            // What changes later is an update of the same one, and the next pull writes to the new place.
            try fixture.edit("policies/ward-3.json", ["printBlocked": true])
            #expect(try await fixture.plan().steps.map(\.action) == [.update])
            #expect(try await fixture.apply().applied == ["policies/ward-3.json"])
            #expect(await fixture.service.writes == ["PATCH T_1"])
            await fixture.service.keep("T_1", ["displayName": "Pilot", "pinRequired": true])
            let pulled = try await fixture.pull()
            #expect(pulled.written == ["policies/ward-3.json"] && pulled.removed == [] && pulled.edited == [])
            #expect(try await fixture.plan().renamed == nil, "the lock has the new names")
        }
    }

    @Test func `of two policies of one name each has a file, also where one's file was removed here`() async throws {
        try await withFolder { fixture in
            _ = try await fixture.pull()
            try FileManager.default.removeItem(atPath: fixture.place(Self.pilot))
            await fixture.service.keep("T_0", ["displayName": "Pilot", "printBlocked": true])
            _ = try await fixture.pull()
            let folder = try PolicyFolder(fixture.folder.path)
            #expect(Set(folder.files.values.compactMap(\.id)) == ["T_0", "T_1", "T_2"])
            #expect(folder.files[Self.pilot]?.id == "T_1")
        }
    }

    @Test func `files that change their names with each other stay what they are`() async throws {
        try await withFolder { fixture in
            _ = try await fixture.pull()
            try fixture.move(Self.pilot, to: "policies/third.json")
            try fixture.move("policies/rest.json", to: Self.pilot)
            try fixture.move("policies/third.json", to: "policies/rest.json")
            #expect(try await fixture.plan().isEmpty)
            #expect(try await fixture.pull().written == [])
        }
    }

    @Test func `where a file has the id of another one, what it was of is told and not removed`() async throws {
        try await withFolder { fixture in
            _ = try await fixture.pull()
            try FileManager.default.removeItem(atPath: fixture.place(Self.pilot))
            try fixture.move("policies/rest.json", to: Self.pilot)
            let plan = try await fixture.plan()
            #expect(plan.isEmpty && plan.others.map(\.id) == ["T_1"])
            #expect(try await fixture.pull().written.count == 1, "it gets a file of its own again")
            #expect(try fixture.read(Self.pilot)["id"] == "T_2")
        }
    }

    @Test func `a policy among filters and a filter among policies are refused with where they belong`() async throws {
        try await withFolder { fixture in
            _ = try await fixture.pull()
            try fixture.move(Self.pilot, to: "filters/pilot.json")
            let policy = await fixture.refused { _ = try await fixture.plan() }
            #expect(policy?.status == .badInput && policy?.hint?.contains("policies") == true)
            try fixture.move("filters/pilot.json", to: Self.pilot)
            try fixture.write("policies/filter.json", ["displayName": "iOS", "rule": "(device.model -eq \"x\")"])
            let filter = await fixture.refused { _ = try await fixture.plan() }
            #expect(filter?.status == .badInput && filter?.hint?.contains("filters") == true)
        }
    }

    private static let strays = [
        "policies/../../home/profile", "policies/../../home/profile.json", "/etc/x.json", "other/x.json",
        "policies/.x.json", "policies//x.json", "policies/x/y.json", "policies/x", "policies/x\u{0}.json", "x.json", "",
    ]

    @Test(arguments: strays)
    func `a lock that names another place than a file in the folder is refused`(stray: String) async throws {
        try await withFolder { fixture in
            _ = try await fixture.pull()
            let outside = fixture.folder.deletingLastPathComponent().appending(path: "home/profile")
            try FileManager.default.createDirectory(
                at: outside.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("mine".utf8).write(to: outside)
            var lock = try fixture.read(PolicyFolder.Lock.name).object ?? [:]
            var entries = lock["entries"]?.object ?? [:]
            entries[stray] = entries.removeValue(forKey: Self.pilot)
            lock["entries"] = .object(entries)
            try fixture.write(PolicyFolder.Lock.name, .object(lock))
            try FileManager.default.removeItem(atPath: fixture.place(Self.pilot))
            let refused = await fixture.refused { _ = try await fixture.pull(overwriting: true) }
            #expect(refused?.status == .badInput && refused?.message.contains(PolicyFolder.Lock.name) == true)
            #expect(try Data(contentsOf: outside) == Data("mine".utf8))
        }
    }

    @Test func `a pull follows no link, neither as a folder nor as a file nor as the lock`() async throws {
        try await withFolder { fixture in
            let elsewhere = fixture.folder.deletingLastPathComponent().appending(path: "elsewhere")
            try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: true)
            let links = ["policies", "filters", "policies/x.json", PolicyFolder.Lock.name]
            for link in links {
                let place = fixture.place(link)
                try FileManager.default.createDirectory(
                    atPath: URL(filePath: place).deletingLastPathComponent().path, withIntermediateDirectories: true)
                for target in [elsewhere.path, "/nonexistent/x"] {
                    try? FileManager.default.removeItem(atPath: place)
                    try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: target)
                    let refused = await fixture.refused { _ = try await fixture.pull(overwriting: true) }
                    #expect(refused?.status == .badInput, "\(link) to \(target)")
                }
                try FileManager.default.removeItem(atPath: place)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path) == [])
            #expect(try await fixture.pull().written.count == 2, "the control")
        }
    }
}
