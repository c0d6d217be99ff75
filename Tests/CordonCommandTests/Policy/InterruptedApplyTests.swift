import CordonPolicy
import CordonService
import CordonTestSupport
import Foundation
import Testing

@testable import CordonCommand

/// What a run leaves behind that ended in the middle, and what the next one makes of it.
@Suite struct InterruptedApplyTests {
    private static let type: JSONValue = "#microsoft.graph.iosManagedAppProtection"
    private static let new: JSONValue = ["@odata.type": type, "displayName": "New"]

    private func withFolder(_ body: (PolicyFilesFixture) async throws -> Void) async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let fixture = PolicyFilesFixture(folder: folder)
        await fixture.service.keep("T_1", ["displayName": "Pilot"])
        _ = try await fixture.pull()
        try await body(fixture)
    }

    @Test func `where the connection breaks, the files have the ids of what was made until then`() async throws {
        try await withFolder { fixture in
            for name in ["aaa", "bbb"] {
                try fixture.write(
                    "policies/\(name).json", ["@odata.type": Self.type, "displayName": .string(name)])
            }
            try await fixture.plan()
            await fixture.service.breakAfter(writes: 1)
            #expect(await fixture.refused { _ = try await fixture.apply() }?.status == .badInput)
            #expect(try fixture.read("policies/aaa.json")["id"] == "new-1")
            #expect(try PolicyFolder(fixture.folder.path).entry("policies/aaa.json")?.id == "new-1")
            // A job with a checkout of its own has the files and not the plan.
            try FileManager.default.removeItem(atPath: fixture.place(PolicyPlan.name))
            await fixture.service.breakAfter(writes: nil)
            #expect(try await fixture.plan().steps.map(\.file) == ["policies/bbb.json"])
            #expect(try await fixture.apply().applied == ["policies/bbb.json"])
            #expect(await fixture.service.writes.count == 2, "nothing is made twice")
        }
    }

    @Test func `what a killed apply made, and could note nowhere, is not made again by a new plan`() async throws {
        try await withFolder { fixture in
            try fixture.write("policies/new.json", Self.new)
            // As the service is left by an apply that was killed before it heard the id.
            await fixture.service.keep("T_9", ["displayName": "New"])
            let refused = await fixture.refused { _ = try await fixture.plan() }
            #expect(refused?.status == .refused && refused?.message.contains("T_9") == true)
            try fixture.edit("policies/new.json", ["id": "T_9"])
            #expect(try await fixture.plan().isEmpty)
            // The control: of another name, it is something else.
            try fixture.write("policies/other.json", ["@odata.type": Self.type, "displayName": "Other"])
            #expect(try await fixture.plan().steps.map(\.action) == [.create])
        }
    }

    @Test func `an apply makes none of a name that an older plan found beside the files`() async throws {
        try await withFolder { fixture in
            try fixture.write("policies/new.json", Self.new)
            var plan = try await fixture.plan()
            await fixture.service.keep("T_9", ["displayName": "New"])
            plan.others = [.init(kind: .policy, id: "T_9", name: "New")]
            try plan.write(to: fixture.folder.appending(path: PolicyPlan.name))
            let refused = await fixture.refused { _ = try await fixture.apply() }
            #expect(refused?.status == .refused && refused?.message.contains("T_9") == true)
            #expect(await fixture.service.writes == [])
        }
    }

    @Test func `one that goes and a new one of its name are no twins`() async throws {
        try await withFolder { fixture in
            try FileManager.default.removeItem(atPath: fixture.place("policies/pilot.json"))
            try fixture.write("policies/again.json", ["@odata.type": Self.type, "displayName": "Pilot"])
            #expect(try await fixture.plan().steps.map(\.action) == [.create, .remove])
            #expect(try await fixture.apply().applied.count == 2)
        }
    }

    @Test func `a removal is refused once another file holds what it was of`() async throws {
        try await withFolder { fixture in
            await fixture.service.keep("T_2", ["displayName": "Rest"])
            _ = try await fixture.pull()
            let (file, other) = ("policies/pilot.json", "policies/ward-3.json")
            try fixture.move(file, to: "kept.json")
            #expect(try await fixture.plan().steps.map(\.action) == [.remove])
            // Back under another name; an earlier version planned the same for one that was moved.
            try fixture.move("kept.json", to: other)
            try fixture.edit(other, ["id": "t_1"])
            let refused = await fixture.refused { _ = try await fixture.apply() }
            #expect(refused?.status == .refused && refused?.message.contains(other) == true)
            #expect(refused?.hint?.contains("Plan again") == true)
            #expect(await fixture.service.writes == [])
            #expect(try await fixture.plan().renamed == [other: file])
        }
    }

    @Test func `a plan that is refused leaves no older one to apply`() async throws {
        try await withFolder { fixture in
            try fixture.edit("policies/pilot.json", ["printBlocked": true])
            try await fixture.plan()
            // The older plan would hold: its own file is as it was.
            try fixture.write("policies/new.json", Self.new)
            await fixture.service.keep("T_9", ["displayName": "New"])
            #expect(await fixture.refused { _ = try await fixture.plan() }?.status == .refused)
            #expect(!FileManager.default.fileExists(atPath: fixture.place(PolicyPlan.name)))
            #expect(await fixture.refused { _ = try await fixture.apply() }?.status == .badInput)
            #expect(await fixture.service.writes == [])
        }
    }
}
