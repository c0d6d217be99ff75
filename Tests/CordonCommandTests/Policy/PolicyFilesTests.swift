import ArgumentParser
import CordonPolicy
import CordonService
import CordonTestSupport
import Foundation
import Testing

@testable import CordonCommand

/// Policies as files: what is pulled, planned and applied, and what stops it.
@Suite struct PolicyFilesTests {
    private static let pilot = "policies/pilot.json"

    private func withFolder(_ body: (PolicyFilesFixture) async throws -> Void) async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let fixture = PolicyFilesFixture(folder: folder)
        await fixture.service.keep("T_1", ["displayName": "Pilot", "printBlocked": false])
        await fixture.service.keep("T_2", ["displayName": "Rest", "printBlocked": false])
        try await body(fixture)
    }

    @Test func `files keep their names and come back the same`() async throws {
        try await withFolder { fixture in
            #expect(try await fixture.pull().written == [Self.pilot, "policies/rest.json"])
            let bytes = try Data(contentsOf: fixture.folder.appending(path: Self.pilot))
            let again = try await fixture.pull()
            #expect(again.written == [] && again.unchanged == 2)
            #expect(try Data(contentsOf: fixture.folder.appending(path: Self.pilot)) == bytes)
            await fixture.service.keep("T_1", ["displayName": "Größer", "printBlocked": true])
            await fixture.service.keep("T_3", ["displayName": "PILOT"])
            await fixture.service.keep("T_4", ["displayName": "Größer"])
            let more = try await fixture.pull().written
            #expect(more.contains(Self.pilot) && more.contains("policies/gro-er.json") && more.count == 3)
            #expect(try fixture.read(Self.pilot)["displayName"] == "Größer")
            #expect(try await fixture.plan().isEmpty)
        }
    }

    @Test func `a file that was edited here and on the service is not written over`() async throws {
        try await withFolder { fixture in
            _ = try await fixture.pull()
            try fixture.edit(Self.pilot, ["printBlocked": true])
            #expect(try await fixture.pull().edited == [], "only edited here")
            #expect(try fixture.read(Self.pilot)["printBlocked"] == true)
            await fixture.service.keep("T_1", ["displayName": "Pilot", "pinRequired": true])
            #expect(try await fixture.pull().edited == [Self.pilot])
            #expect(try fixture.read(Self.pilot)["printBlocked"] == true)
            #expect(try await fixture.pull(overwriting: true).written == [Self.pilot])
            #expect(try fixture.read(Self.pilot)["pinRequired"] == true)
        }
    }

    @Test func `a plan is what apply does: update, create and remove`() async throws {
        try await withFolder { fixture in
            _ = try await fixture.pull()
            try fixture.edit(Self.pilot, ["printBlocked": true])
            try fixture.write(
                "policies/new.json",
                ["@odata.type": "#microsoft.graph.iosManagedAppProtection", "displayName": "New", "pinRequired": true])
            try FileManager.default.removeItem(at: fixture.folder.appending(path: "policies/rest.json"))
            let plan = try await fixture.plan()
            #expect(plan.steps.map(\.action) == [.create, .update, .remove])
            #expect(plan.steps[1].effect?.changes.map(\.member) == ["printBlocked"])
            let report = try await fixture.apply()
            #expect(report.applied.count == 3 && report.stopped == nil && report.left == [])
            #expect(await fixture.service.writes == ["POST iosManagedAppProtections", "PATCH T_1", "DELETE T_2"])
            #expect(try fixture.read("policies/new.json")["id"] == "new-1")
            #expect(try await fixture.plan().isEmpty)
            #expect(try await fixture.pull().written == [])
            #expect(
                await fixture.refused { _ = try await fixture.apply() }?.status == nil, "an empty plan does nothing")
        }
    }

    @Test func `plan and apply name folder, service and plan alike`() throws {
        let words = ["policies", "--service", "http://127.0.0.1:1", "--plan", "/tmp/a.json"]
        let (plan, apply) = (try PolicyPlanCommand.parse(words), try PolicyApplyCommand.parse(words))
        #expect(plan.options.plan == "/tmp/a.json" && apply.options.plan == "/tmp/a.json")
        #expect(plan.options.folder == apply.options.folder)
        // The name of the version before.
        #expect(try PolicyPlanCommand.parse(["policies", "--out", "b.json"]).options.plan == "b.json")
        for help in [PolicyPlanCommand.helpMessage(), PolicyApplyCommand.helpMessage()] {
            for option in ["--service ", "--plan", "--json"] {
                let mentions = help.split(separator: "\n").filter { $0.drop(while: \.isWhitespace).hasPrefix(option) }
                #expect(mentions.count == 1, "\(option)")
            }
        }
    }

    @Test func `a plan of a folder that is not there says so, before anybody signs in`() async throws {
        let command = try PolicyPlanCommand.parse(["/nowhere/policies", "--service", "http://127.0.0.1:1"])
        await #expect { try await command.run() } throws: { error in
            let failure = error as? CommandFailure
            return failure?.status == .badInput && failure?.message == "/nowhere/policies: there is no such folder"
        }
    }

    @Test func `a plan takes the place of no pipe or device`() async throws {
        try await withFolder { fixture in
            let pipe = fixture.folder.appending(path: "pipe")
            #expect(mkfifo(pipe.path, 0o600) == 0)
            let refused = await fixture.refused {
                _ = try await PolicyPlan.renew(at: pipe) { try await fixture.plan() }
            }
            #expect(refused?.status == .refused)
            #expect(access(pipe.path, F_OK) == 0)
        }
    }

    @Test func `a plan takes the place of no file that is none, and of an empty one`() async throws {
        try await withFolder { fixture in
            _ = try await fixture.pull()
            let file = fixture.folder.appending(path: Self.pilot)
            let before = try Data(contentsOf: file)
            let refused = await fixture.refused {
                _ = try await PolicyPlan.renew(at: file) { try await fixture.plan() }
            }
            #expect(refused?.status == .refused && refused?.message.contains("is not a plan") == true)
            #expect(try Data(contentsOf: file) == before)
            let place = fixture.folder.appending(path: "made-by-mktemp")
            try Data().write(to: place)
            for _ in 0..<2 { _ = try await PolicyPlan.renew(at: place) { try await fixture.plan() } }
            #expect(try PolicyPlan(reading: place).isEmpty)
        }
    }

    @Test(arguments: ["a link to a policy", "a file that is too long for a plan"])
    func `what cannot be read as a plan stays`(_ what: String) async throws {
        try await withFolder { fixture in
            _ = try await fixture.pull()
            let place = fixture.folder.appending(path: "place")
            if what.hasPrefix("a link") {
                try FileManager.default.createSymbolicLink(atPath: place.path, withDestinationPath: Self.pilot)
            } else {
                try Data().write(to: place)
                #expect(truncate(place.path, off_t(64 << 20 + 1)) == 0)
            }
            let refused = await fixture.refused {
                _ = try await PolicyPlan.renew(at: place) { try await fixture.plan() }
            }
            #expect(refused?.status == .refused)
            let kind = try FileManager.default.attributesOfItem(atPath: place.path)[.type] as? FileAttributeType
            #expect(kind == (what.hasPrefix("a link") ? .typeSymbolicLink : .typeRegular))
        }
    }

    @Test func `a plan names the groups and the filter's file beside the ids of an assignment`() throws {
        let target: JSONValue = [
            "target": [
                "@odata.type": "#microsoft.graph.groupAssignmentTarget", "groupId": "g-1",
                "deviceAndAppManagementAssignmentFilterId": "f-1",
                "deviceAndAppManagementAssignmentFilterType": "include",
            ]
        ]
        let json: JSONValue = ["member": "assignments[group g-1]", "to": target]
        let change = try JSONDecoder().decode(MemberChange.self, from: Data(json.text().utf8))
        let line = PolicyPlanReport.line(change, ["g-1": "Field workers", "f-1": "filters/ios.json"])
        #expect(line.hasPrefix("assignments[group g-1 “Field workers”]: absent -> "))
        #expect(line.contains("f-1 “filters/ios.json”"))
    }

    @Test func `a plan asks for the names of the groups that it would reach`() async throws {
        try await withFolder { fixture in
            _ = try await fixture.pull()
            await fixture.service.name("g-1", "Field workers")
            let targets = ["g-1", "g-2"].map { group -> JSONValue in
                ["target": ["@odata.type": "#microsoft.graph.groupAssignmentTarget", "groupId": .string(group)]]
            }
            await fixture.service.changeEntries(of: "assignments")
            try fixture.edit(Self.pilot, ["assignments": .array(targets)])
            #expect(try await fixture.plan().names == ["g-1": "Field workers"])
        }
    }

    @Test func `a change on the service is told and stops`() async throws {
        try await withFolder { fixture in
            _ = try await fixture.pull()
            try fixture.edit(Self.pilot, ["printBlocked": true])
            await fixture.service.keep("T_1", ["displayName": "Pilot", "printBlocked": false, "pinRequired": true])
            let plan = try await fixture.plan()
            #expect(plan.drift.map(\.file) == [Self.pilot] && plan.steps == [])
            #expect(plan.drift.first?.members == ["pinRequired", "printBlocked"])
            #expect(plan.drift.first?.author == "oid-carol" && plan.drift.first?.reason == "because")
            #expect(await fixture.refused { _ = try await fixture.apply() }?.status == .refused)
            #expect(await fixture.service.writes == [])
            let taken = try await fixture.plan(takingFiles: true)
            #expect(taken.drift == [] && taken.steps.map(\.version) == ["v2"])
        }
    }

    @Test func `nothing is written where a file, a version or the number is another than planned`() async throws {
        try await withFolder { fixture in
            _ = try await fixture.pull()
            for path in [Self.pilot, "policies/rest.json"] { try fixture.edit(path, ["printBlocked": true]) }
            try await fixture.plan()
            try fixture.edit("policies/rest.json", ["pinRequired": true])
            #expect(await fixture.refused { _ = try await fixture.apply() }?.message.contains("edited") == true)
            try await fixture.plan()
            await fixture.service.keep("T_2", ["displayName": "Rest", "pinRequired": false])
            let moved = await fixture.refused { _ = try await fixture.apply() }
            #expect(moved?.status == .refused && moved?.message.contains("oid-carol") == true)
            try await fixture.plan(takingFiles: true)
            await fixture.service.reach(2)
            #expect(await fixture.refused { _ = try await fixture.apply() }?.message.contains("something else") == true)
            #expect(await fixture.service.writes == [])
            // The control: as it was, it passes.
            await fixture.service.reach(1)
            #expect(try await fixture.apply().applied.count == 2)
        }
    }

    @Test func `a number of people beyond all bounds ends no program`() async throws {
        try await withFolder { fixture in
            _ = try await fixture.pull()
            await fixture.service.reach(.max)
            try fixture.edit(Self.pilot, ["printBlocked": true])
            var step = try #require(try await fixture.plan().steps.first)
            #expect(try await fixture.apply().applied == [Self.pilot])
            func impact(_ people: Int64) -> JSONValue {
                ["changes": [], "wipes": [], "losing": ["people": .integer(people), "registrations": 0]]
            }
            step.impact = impact(.min)
            #expect(step.isCovered(impact(.min)) && !step.isCovered(impact(1)))
        }
    }

    @Test func `a refusal in the middle says what was made, and the same apply goes on`() async throws {
        try await withFolder { fixture in
            _ = try await fixture.pull()
            for path in [Self.pilot, "policies/rest.json"] { try fixture.edit(path, ["printBlocked": true]) }
            try await fixture.plan()
            await fixture.service.wait(for: "change-7", at: "T_2")
            let stopped = try await fixture.apply()
            #expect(stopped.applied == [Self.pilot] && stopped.left == ["policies/rest.json"])
            #expect(stopped.stopped?.waitingChange == "change-7")
            await fixture.service.wait(for: nil, at: "T_2")
            let done = try await fixture.apply()
            #expect(done.applied.count == 2 && done.left == [])
            #expect(await fixture.service.writes == ["PATCH T_1", "PATCH T_2"], "nothing is made twice")
        }
    }

    @Test func `a version that moves between the look and the write makes nothing`() async throws {
        try await withFolder { fixture in
            _ = try await fixture.pull()
            for path in [Self.pilot, "policies/rest.json"] { try fixture.edit(path, ["printBlocked": true]) }
            try await fixture.plan()
            await fixture.service.onNextWrite { await $0.keep("T_1", ["displayName": "Pilot", "pinRequired": true]) }
            let report = try await fixture.apply()
            #expect(report.applied == [] && report.left == [Self.pilot, "policies/rest.json"])
            #expect(report.stopped?.reason.contains("another version") == true)
            #expect(await fixture.service.writes == [])
        }
    }

    @Test func `an apply that ended before it could note what it made makes nothing twice`() async throws {
        try await withFolder { fixture in
            _ = try await fixture.pull()
            try fixture.edit(Self.pilot, ["printBlocked": true])
            try fixture.write(
                "policies/new.json",
                ["@odata.type": "#microsoft.graph.iosManagedAppProtection", "displayName": "New"])
            try await fixture.plan()
            let before = try Data(contentsOf: fixture.folder.appending(path: PolicyPlan.name))
            _ = try await fixture.apply()
            // As if the process had died before the plan and the files were written.
            try before.write(to: fixture.folder.appending(path: PolicyPlan.name))
            try fixture.write(
                "policies/new.json",
                ["@odata.type": "#microsoft.graph.iosManagedAppProtection", "displayName": "New"])
            let written = await fixture.service.writes
            let twin = await fixture.refused { _ = try await fixture.apply() }
            #expect(twin?.status == .refused && twin?.message.contains("new-1") == true)
            // With the id that it was told, the rest is known to be done.
            try fixture.edit("policies/new.json", ["id": "new-1"])
            #expect(try await fixture.plan().isEmpty)
            #expect(await fixture.service.writes == written)
        }
    }

    private static let unclear: [(Int, JSONValue)] = [
        (200, []), (202, ["id": "T_9"]), (201, ["id": ""]), (201, ["id": 5]), (204, .null),
    ]

    @Test(arguments: unclear)
    func `what the service does not say it made is no success`(status: Int, body: JSONValue) async throws {
        try await withFolder { fixture in
            let type: JSONValue = "#microsoft.graph.iosManagedAppProtection"
            let command = try PolicyPublishCommand.parse(["new.json", "--app", "org.example.a", "--json"])
            let members: [String: JSONValue] = ["@odata.type": type, "displayName": "New"]
            _ = try await fixture.pull()
            try fixture.write("policies/new.json", .object(members))
            try await fixture.plan()
            await fixture.service.makeNothing(answering: status, body)
            let refused = await fixture.refused { _ = try await command.publish(members, fixture.client) }
            #expect(refused?.status == .badInput && refused?.message.contains("\(status)") == true)
            let report = try await fixture.apply()
            #expect(report.applied == [] && report.left == ["policies/new.json"])
            #expect(report.stopped?.reason.contains("\(status)") == true)
        }
    }

    @Test func `nothing is published before the service said what it would do, and the control is`() async throws {
        try await withFolder { fixture in
            let command = try PolicyPublishCommand.parse(["new.json", "--app", "org.example.a", "--json"])
            let members: [String: JSONValue] = [
                "@odata.type": "#microsoft.graph.iosManagedAppProtection", "displayName": "New",
            ]
            for answer in [[], [:], ["reach": 5]] as [JSONValue] {
                await fixture.service.say(answer)
                let refused = await fixture.refused { _ = try await command.publish(members, fixture.client) }
                #expect(refused?.status == .badInput, "\(answer)")
            }
            #expect(await fixture.service.writes == [])
            await fixture.service.say(nil)
            #expect(try await command.publish(members, fixture.client).id == "new-1")
        }
    }

    @Test(arguments: ["x", "ftp://x", "http://", "https://[::1", "localhost:8080"])
    func `a service that is no address is named as that`(_ text: String) throws {
        let failure = #expect(throws: CommandFailure.self) { try ServiceOptions.address(text) }
        #expect(failure?.status == .usage && failure?.message == "“\(text)” is not the address of a service")
        #expect(try ServiceOptions.address("https://[::1]:1/a").port == 1)
        let unsaid = #expect(throws: CommandFailure.self) { try ServiceOptions.address(nil) }
        #expect(unsaid?.message == "which service is not said")
    }

    @Test func `misspelt members, two files of one id and a file of another kind are refused by name`() async throws {
        try await withFolder { fixture in
            _ = try await fixture.pull()
            try fixture.edit(Self.pilot, ["printBloked": true])
            let misspelt = await fixture.refused { _ = try await fixture.plan() }
            #expect(misspelt?.status == .badInput && misspelt?.hint?.contains("printBlocked") == true)
            _ = try await fixture.pull(overwriting: true)
            try fixture.write("policies/copy.json", try fixture.read(Self.pilot))
            let copy = await fixture.refused { _ = try await fixture.plan() }
            #expect(copy?.message.contains("copy.json") == true || copy?.message.contains("pilot.json") == true)
            try FileManager.default.removeItem(at: fixture.folder.appending(path: "policies/copy.json"))
            try fixture.write("filters/odd.json", ["displayName": "Odd"])
            #expect(await fixture.refused { _ = try await fixture.plan() }?.message.contains("rule") == true)
        }
    }

    @Test func `secret values come from elsewhere, and no plan holds one`() async throws {
        try await withFolder { fixture in
            let digest = "cordon-secret:0123"
            await fixture.service.keep(
                "T_1",
                [
                    "displayName": "Pilot",
                    "customSettings": [
                        ["name": "password", "value": .string(digest)], ["name": "server", "value": "a"],
                    ],
                ])
            _ = try await fixture.pull()
            #expect(try fixture.read(Self.pilot)["customSettings"]?.array?.first?["value"] == .string(digest))
            var file = try PolicyFile(Data(contentsOf: fixture.folder.appending(path: Self.pilot)), at: Self.pilot)
            #expect(file.secrets == ["password": digest] && !file.hasReferences)
            file.members["customSettings"] = [
                ["name": "password", "value": ["fromEnvironment": "VPN"]], ["name": "server", "value": "a"],
            ]
            let values = try file.resolved(in: fixture.folder, ["VPN": "hunter2"])["customSettings"]?.array
            #expect(values?.first?["value"] == "hunter2")
            #expect(throws: CommandFailure.self) { try file.resolved(in: fixture.folder, [:]) }
            // A value that did not change on the service stays where it is kept; another one is shown.
            let said = try PolicyFile(Data(contentsOf: fixture.folder.appending(path: Self.pilot)), at: Self.pilot)
            #expect(said.keepingReferences(of: file, unless: ["password": digest]).hasReferences)
            #expect(!said.keepingReferences(of: file, unless: ["password": "cordon-secret:other"]).hasReferences)
            // No file outside the folder is read.
            file.members["customSettings"] = [["name": "password", "value": ["fromFile": "../secret"]]]
            #expect(throws: CommandFailure.self) { try file.resolved(in: fixture.folder, [:]) }
        }
    }
}
