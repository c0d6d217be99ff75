import CordonTestSupport
import Foundation
import Testing

/// The page for administrators of shared devices, carried out with the programs under test.
@Suite(
    .tags(.machineAlone), .serialized, .timeLimit(.minutes(10)),
    .enabled(
        if: Namespaces.haveOverlays,
        "needs root, namespaces with overlays, python3, setpriv, groupadd, openssl and curl")
) struct SharingPageTests {
    private static let script = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "../../Scripts/sharing.py").standardized.path

    @Test func `the page leads from nothing to two apps and three shifts, with its own commands in its own order`()
        async throws
    {
        let rehearsal = try await Program.run(
            try #require(Program.python), [Self.script, Programs.folder.path])
        #expect(rehearsal.status == 0 && rehearsal.text.contains("the page works"), "\(rehearsal.everything)")
    }
}

/// Where a test may change the system without leaving a trace.
private enum Namespaces {
    static let haveOverlays: Bool = {
        guard geteuid() == 0, Program.python != nil, let unshare = Program.find("unshare"),
            ["setpriv", "groupadd", "useradd", "openssl", "curl"].allSatisfy({ Program.find($0) != nil })
        else { return false }
        let mount = """
            mount -t tmpfs tmpfs /mnt && mkdir /mnt/a /mnt/b /mnt/c \
            && mount -t overlay overlay -o lowerdir=/mnt/a,upperdir=/mnt/b,workdir=/mnt/c /mnt/a
            """
        let arguments = ["--mount", "--net", "--pid", "--fork", "--mount-proc", "sh", "-c", mount]
        return (try? Program.run(unshare, arguments).status) == 0
    }()
}
