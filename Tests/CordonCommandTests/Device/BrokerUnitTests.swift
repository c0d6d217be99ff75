import CordonTestSupport
import Foundation
import Testing

/// The units that administrators install, as systemd itself reads them.
@Suite struct BrokerUnitTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL
    private static let analyze = Program.find("systemd-analyze")

    private static func unit(_ name: String) throws -> String {
        try String(contentsOf: root.appending(path: "Examples/Deployment/\(name)"), encoding: .utf8)
    }

    /// The settings of a unit, each with its values in the order of the file.
    private static func settings(_ name: String) throws -> [String: [String]] {
        var found: [String: [String]] = [:]
        let text = try unit(name).replacing("\\\n", with: " ")
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let equals = line.firstIndex(of: "=") else { continue }
            found[String(line[..<equals]), default: []].append(String(line[line.index(after: equals)...]))
        }
        return found
    }

    @Test func `the broker's unit takes every capability and every way to trace from an attacker in the broker`()
        throws
    {
        let settings = try Self.settings("cordon-broker.service")
        #expect(settings["CapabilityBoundingSet"] == [""] && settings["AmbientCapabilities"] == nil)
        #expect(settings["User"] == ["cordon-broker"])
        #expect(
            settings["SystemCallFilter"]
                == ["@system-service", "~ptrace process_vm_readv process_vm_writev pidfd_getfd"])
        for name in [
            "NoNewPrivileges", "ProtectHome", "PrivateTmp", "PrivateDevices", "MemoryDenyWriteExecute",
            "RestrictNamespaces", "RestrictSUIDSGID",
        ] { #expect(settings[name] == ["yes"], "\(name)") }
        #expect(settings["ProtectSystem"] == ["strict"])
        #expect(settings["RestrictAddressFamilies"] == ["AF_UNIX AF_INET AF_INET6 AF_NETLINK"])
        #expect(settings["StateDirectoryMode"] == ["0700"])
        #expect(settings["Environment"] == ["SWIFT_BACKTRACE=enable=no"], "a crash leaves no memory in the journal")
        #expect(settings["WantedBy"] == ["multi-user.target"], "or it is not there after a restart")
        let socket = try Self.settings("cordon-broker.socket")
        #expect(socket["PassCredentials"] == ["yes"], "who connects before the broker runs is known too")
        #expect(socket["DirectoryMode"] == ["0755"])
    }

    @Test func `the protocol's page shows the units that are installed`() throws {
        let page = try String(contentsOf: Self.root.appending(path: "docs/broker-protocol.md"), encoding: .utf8)
        for name in ["cordon-broker.service", "cordon-broker.socket"] {
            #expect(try page.contains("```ini\n" + Self.unit(name) + "```"), "\(name)")
        }
    }

    @Test(.enabled(if: analyze != nil, "needs systemd-analyze"))
    func `systemd takes the units without a word, and finds little that the broker could do elsewhere`() async throws {
        let analyze = try #require(Self.analyze)
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        for name in ["cordon-broker.service", "cordon-broker.socket"] {
            // The program need not be installed where this is tried.
            let text = try Self.unit(name).replacing("/usr/local/bin/cordon ", with: "/bin/true ")
            try Data(text.utf8).write(to: folder.appending(path: name))
        }
        let service = folder.appending(path: "cordon-broker.service").path
        let verified = try await Program.run(
            analyze, ["verify", "--man=no", service, folder.appending(path: "cordon-broker.socket").path])
        #expect(verified.status == 0 && !verified.everything.contains(folder.path), "\(verified.everything)")
        // Out of 100; a unit without any of this has 96.
        let looked = try await Program.run(
            analyze, ["security", "--offline=true", "--no-pager", "--threshold=20", service])
        #expect(looked.status == 0, "\(looked.everything)")
        let bare = folder.appending(path: "bare.service")
        try Data("[Service]\nExecStart=/bin/true\n".utf8).write(to: bare)
        let control = try await Program.run(
            analyze, ["security", "--offline=true", "--no-pager", "--threshold=20", bare.path])
        #expect(control.status != 0, "the control")
    }
}
