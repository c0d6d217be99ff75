import ArgumentParser
import CordonIdentity
import CordonPolicy
import CordonTestSupport
import Foundation
import Testing

@testable import CordonCommand

struct PolicyCommandTests {
    /// A folder of policies and questions, removed at the end.
    final class Folder {
        let url: URL

        init() throws { url = try TemporaryFolder.make() }

        deinit { TemporaryFolder.remove(url) }

        func file(_ name: String, _ text: String) throws -> String {
            let file = url.appendingPathComponent(name)
            try Data(text.utf8).write(to: file)
            return file.path
        }

        /// Runs `cordon policy` with these words; its exit status.
        func run(_ words: String...) throws -> CordonCommand.ExitStatus {
            var command = try PolicyCommand.parseAsRoot(words)
            do {
                try command.run()
                return .done
            } catch let failure as CommandFailure {
                return failure.status
            }
        }
    }

    static let sound = #"{"id": "p", "version": "1", "displayName": "P"}"#
    static let strict = #"{"id": "p", "version": "2", "displayName": "P", "printBlocked": true}"#

    @Test func `lint ends with 1 for a finding, 3 for a file that is not a policy`() throws {
        let folder = try Folder()
        #expect(try folder.run("lint", folder.file("a.json", Self.sound)) == .done)
        #expect(
            try folder.run("lint", folder.file("b.json", #"{"saveAsBlocked": true}"#), "--json") == .notInWantedState)
        #expect(try folder.run("lint", folder.file("c.json", "{")) == .badInput)
        #expect(try folder.run("lint", folder.file("d.json", #"{"pinRequired": "yes"}"#)) == .badInput)
        #expect(try folder.run("lint", folder.url.path + "/absent.json") == .badInput)
        #expect(try folder.run("lint", folder.file("e.json", Self.sound), "--baseline", "level3") == .notInWantedState)
        #expect(
            try folder.run("lint", folder.file("f.json", #"{"value": [\#(Self.sound), {"displayName": "Q"}]}"#))
                == .done)
    }

    @Test
    func `lint says that it found nothing, and refuses a list without policies and an unknown baseline`()
        throws
    {
        let folder = try Folder()
        for text in [
            "[]", #"{"value": []}"#, ##"{"@odata.type": "#microsoft.graph.user"}"##,
            ##"{"@odata.type": "#microsoft.graph.user", "displayName": "x"}"##,
        ] {
            #expect(try folder.run("lint", folder.file("none.json", text)) == .badInput, "\(text)")
        }
        let sound = try folder.file("sound.json", Self.sound)
        #expect(throws: CommandFailure.self) {
            var command = try PolicyCommand.parseAsRoot(["lint", sound, "--baseline", "level9"])
            do { try command.run() } catch let failure as CommandFailure {
                #expect(failure.status == .badInput && failure.hint?.contains("level1, level2, level3") == true)
                throw failure
            }
        }
    }

    @Test func `lint counts errors and warnings by their names, and no notes`() {
        #expect(PolicyLintCommand.count([.note, .warning, .note]) == "one warning")
        #expect(PolicyLintCommand.count([.warning, .error, .warning]) == "one error, 2 warnings")
    }

    @Test func `a sentence with a word that is no action is refused with the list of actions, once`() throws {
        let folder = try Folder()
        let policy = try folder.file("a.json", Self.sound)
        var command = try PolicyCommand.parseAsRoot(["prove", "never fly to moon", policy])
        #expect { try command.run() } throws: { error in
            let failure = error as? CommandFailure
            return failure?.status == .usage && failure?.message == "sentence: \"fly\" is not an action"
                && failure?.hint?.contains("saveTo, ") == true
        }
    }

    @Test func `a baseline is a whole policy of its level, and another level is no level`() throws {
        let folder = try Folder()
        for level in AppProtectionPolicy.Baseline.allCases {
            let document = PolicyBaselineCommand.document(level, name: "Pilot")
            let file = try folder.file("\(level.rawValue).json", document.text(pretty: true))
            #expect(try folder.run("lint", file, "--baseline", level.rawValue) != .badInput)
            let policy = try AppProtectionPolicy(graphJSON: document)
            #expect(PolicyDiff.settings(from: .baseline(level), to: policy) == [])
            #expect(document["displayName"] == "Pilot" && document["id"] == nil && document["version"] == nil)
            #expect(document["@odata.type"] == "#microsoft.graph.iosManagedAppProtection")
        }
        #expect(throws: (any Error).self) { try PolicyCommand.parseAsRoot(["baseline", "level9"]) }
    }

    @Test func `lint mends only what cannot change an answer`() throws {
        let folder = try Folder()
        let idle = try folder.file(
            "i.json", #"{"id": "p", "displayName": "P", "appActionIfIosDeviceModelNotAllowed": "wipe", "later": 1.50}"#)
        #expect(try folder.run("lint", idle) == .notInWantedState)
        #expect(try folder.run("lint", idle, "--fix") == .notInWantedState, "a member that is not known stays")
        let mended = try JSONValue(parsing: Data(contentsOf: URL(fileURLWithPath: idle)))
        #expect(mended["appActionIfIosDeviceModelNotAllowed"] == "block" && mended["later"]?.text() == "1.50")
        let weak = try folder.file("w.json", #"{"id": "p", "displayName": "W", "saveAsBlocked": true}"#)
        let before = try Data(contentsOf: URL(fileURLWithPath: weak))
        #expect(try folder.run("lint", weak, "--fix") == .notInWantedState)
        #expect(try Data(contentsOf: URL(fileURLWithPath: weak)) == before)
    }

    @Test func `lint finds two policies of one name and type, in one file or in two`() throws {
        // SRV-RS-017
        let folder = try Folder()
        let first = try folder.file("a.json", Self.sound)
        #expect(try folder.run("lint", first, folder.file("b.json", Self.strict)) == .notInWantedState)
        #expect(
            try folder.run("lint", folder.file("c.json", #"{"value": [\#(Self.sound), \#(Self.strict)]}"#))
                == .notInWantedState)
        let other = ##"{"@odata.type": "#microsoft.graph.defaultManagedAppProtection", "displayName": "P"}"##
        #expect(try folder.run("lint", first, folder.file("d.json", other)) == .done)
        #expect(try folder.run("lint", first, folder.file("e.json", #"{"displayName": "p"}"#)) == .done)
    }

    @Test func `diff ends with 1 when policies differ`() throws {
        let folder = try Folder()
        let (before, after) = (try folder.file("a.json", Self.sound), try folder.file("b.json", Self.strict))
        #expect(try folder.run("diff", before, before) == .done)
        #expect(try folder.run("diff", before, after, "--json") == .notInWantedState)
        #expect(try folder.run("diff", "-", "-") == .usage)
    }

    @Test func `prove ends with 1 for a counterexample, which explain answers`() throws {
        let folder = try Folder()
        let policy = try folder.file("p.json", Self.strict)
        let question = folder.url.path + "/q.json"
        #expect(try folder.run("prove", "never print from managed", policy) == .done)
        #expect(
            try folder.run(
                "prove", "never copy from managed to personal", policy, "--counterexample", question, "--json")
                == .notInWantedState)
        #expect(try folder.run("explain", "--policy", policy, "--question", question) == .done)
        #expect(try folder.run("prove", "--promises", policy) == .notInWantedState)
        #expect(try folder.run("prove", "--nowhere-weaker-than", folder.file("o.json", Self.sound), policy) == .done)
        #expect(
            try folder.run("prove", "--nowhere-weaker-than", policy, folder.url.path + "/o.json") == .notInWantedState)
        let sentences = try folder.file("s.txt", "# ours\nnever print from managed\n")
        #expect(try folder.run("prove", "--sentences", sentences, policy) == .done)
        #expect(try folder.run("prove", "--sentences", folder.file("t.txt", "never prnt"), policy) == .badInput)
        #expect(try folder.run("prove", "never prnt", policy) == .usage)
        #expect(try folder.run("prove", "never print") == .usage)
    }

    @Test func `explain answers, and refuses only text that is not JSON`() throws {
        let folder = try Folder()
        let policy = try folder.file("p.json", Self.strict)
        let question = try folder.file(
            "q.json", #"[{"action": "print", "owner": {"account": "managed", "id": "a"}}, {"action": "?"}]"#)
        #expect(try folder.run("explain", "--policy", policy, "--question", question, "--json", "--trace") == .done)
        #expect(
            try folder.run("explain", "--policy", "a=" + policy, "--policy", "b=" + policy, "--question", question)
                == .done)
        #expect(
            try folder.run("explain", "--policy", policy, "--question", folder.file("r.json", "nonsense")) == .badInput)
        for reader in ["person", "developer", "help-desk"] {
            #expect(
                try folder.run("explain", "--policy", "a=" + policy, "--question", question, "--for", reader) == .done)
        }
        #expect(try folder.run("explain", "--policy", "-") == .usage)
    }

    @Test func `a dictionary of the wrong shape is bad input, not a policy with every default`() throws {
        let folder = try Folder()
        let policy = try folder.file("p.json", Self.strict)
        let question = try folder.file("q.json", #"{"action": "print", "owner": {"account": "managed", "id": "a"}}"#)
        func explain(_ policy: String, _ question: String, _ words: String...) throws -> CordonCommand.ExitStatus {
            var command = try PolicyCommand.parseAsRoot(
                ["explain", "--policy", policy, "--question", question] + words)
            do {
                try command.run()
                return .done
            } catch let failure as CommandFailure {
                return failure.status
            }
        }
        #expect(try explain(policy, question) == .done)
        for (index, text) in [
            #"{"policy": {"printBlocked": true}}"#, #"{"PINEnabled": 1, "PrintingBlocked": 1}"#, "[1]",
        ].enumerated() {
            let file = try folder.file("w\(index).json", text)
            #expect(try explain(file, question) == .badInput, "\(text)")
            #expect(try folder.run("lint", file) == .badInput, "\(text)")
            #expect(try folder.run("diff", policy, file) == .badInput, "\(text)")
        }
        for (index, text) in [#""print""#, "[1]", "5"].enumerated() {
            #expect(try explain(policy, folder.file("v\(index).json", text)) == .badInput, "\(text)")
        }
        let flat = try folder.file("flat.json", #"{"com.microsoft.intune.mam.screencapturecontrol": "Disabled"}"#)
        #expect(try explain(policy, question, "--configuration", flat) == .badInput)
        #expect(try explain(policy, question, "--configuration", "a=" + flat) == .badInput)
    }

    @Test func `a configuration given for one account bears on that account alone`() throws {
        let folder = try Folder()
        let policy = try folder.file(
            "p.json", #"{"id": "p", "allowedOutboundDataTransferDestinations": "managedApps"}"#)
        let lifts = try folder.file(
            "c.json",
            #"{"customSettings": [{"name": "com.microsoft.intune.mam.screencapturecontrol", "value": "Disabled"}]}"#)
        func captures(_ account: AccountID, _ policies: [String], _ configuration: String) throws -> Verdict {
            try PolicyFiles.set(policies, configurations: [configuration])
                .verdict(for: Question(.captureScreen, owner: .managed(account)))
        }
        for policies in [[policy], ["a=" + policy, "b=" + policy], ["b=" + policy, policy]] {
            #expect(try captures("a", policies, "a=" + lifts) == .allow, "\(policies)")
            #expect(try captures("b", policies, "a=" + lifts) == .block, "\(policies)")
            #expect(try captures("a", policies, lifts) == .allow && captures("b", policies, lifts) == .allow)
        }
    }

    @Test func `test runs expectations beside a policy`() throws {
        let folder = try Folder()
        _ = try folder.file("p.json", Self.strict)
        func scenario(_ verdict: String, _ policy: String = #""policies": {"*": "p.json"}, "#) -> String {
            #"{\#(policy)"expectations": [{"question": {"action": "print", "owner": {"account": "managed", "id": "a"}}, "verdict": "\#(verdict)", "rules": []}]}"#
        }
        #expect(try folder.run("test", folder.file("good.json", scenario("block"))) == .done)
        #expect(try folder.run("test", folder.file("bad.json", scenario("allow")), "--json") == .notInWantedState)
        #expect(try folder.run("test", folder.file("none.json", scenario("block", ""))) == .badInput)
        #expect(try folder.run("test", folder.file("odd.json", scenario("maybe"))) == .badInput)
        #expect(
            try folder.run(
                "test", folder.file("none.json", scenario("block", "")), "--policy", folder.url.path + "/p.json")
                == .done)
    }
}
