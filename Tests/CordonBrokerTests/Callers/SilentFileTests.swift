import CordonIdentity
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

#if canImport(CoreFoundation)
    import CoreFoundation
#endif
#if canImport(CDispatch)
    import CDispatch
#endif

/// A program whose file lies in a file system that is a program itself (FUSE), and that answers nothing any more once it was started.
@Suite(
    .serialized, .timeLimit(.minutes(10)), .tags(.machineAlone),
    .enabled(
        if: OtherUser.hasNamespaces && FileManager.default.isReadableFile(atPath: "/dev/fuse"),
        "needs root, setpriv, python3, user namespaces and /dev/fuse")
) struct SilentFileTests {
    /// A file system of one file, such as a user may mount where an administrator lets them (`user_allow_other`): it answers until a mark
    /// is there, and from then on no question about the file's facts. It then runs a program of another user, and ends with that.
    private static let fileSystem = """
        import ctypes, os, select, struct, subprocess, sys, threading
        place, source, mark = sys.argv[1:4]
        libc = ctypes.CDLL(None, use_errno=True)
        def must(status):
            if status: sys.exit(os.strerror(ctypes.get_errno()))
        must(libc.unshare(0x20000))
        must(libc.mount(b"none", b"/", None, 0x44000, None))
        device = os.open("/dev/fuse", os.O_RDWR)
        options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions"
        must(libc.mount(b"silent", place.encode(), b"fuse", 0, options.encode()))
        data = open(source, "rb").read()
        def facts(node):
            mode, size = (0o40755, 0) if node == 1 else (0o100755, len(data))
            return struct.pack("<QQQQQQIIIIIIIIII", node, size, 0, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)
        def serve(question):
            kind, number, node = struct.unpack("<IQQ", question[4:24])
            rest = question[40:]
            answer, error = b"", 0
            if kind == 26: answer = struct.pack("<IIIIHHIIHHI", 7, 31, 0, 0, 0, 0, 1 << 17, 1, 0, 0, 0) + bytes(24)
            elif kind == 1 and rest.rstrip(b"\\0") == b"program":
                answer = struct.pack("<QQQQII", 2, 0, 3600, 0, 0, 0) + facts(2)
            elif kind == 1: error = -2
            elif kind == 3 and os.path.exists(mark): return
            elif kind == 3: answer = struct.pack("<QII", 0, 0, 0) + facts(node)
            elif kind in (14, 27): answer = struct.pack("<QII", 1, 0, 0)
            elif kind == 15:
                offset, size = struct.unpack("<QI", rest[8:20])
                answer = data[offset:offset + size]
            elif kind in (2, 42): return
            elif kind not in (18, 25, 29): error = -38
            os.write(device, struct.pack("<IiQ", 16 + len(answer), error, number) + answer)
        child = []
        def start():
            child.append(subprocess.Popen(sys.argv[4:]))
        threading.Thread(target=start).start()
        while not child or child[0].poll() is None:
            if select.select([device], [], [], 0.1)[0]: serve(os.read(device, 1 << 20))
        """

    /// Silences its own file system, connects, and prints what the broker says.
    private static let script =
        AllowedCopy.frames + """
            open(sys.argv[2], "w").close()
            link = connect()
            link.settimeout(20)
            try:
                link.sendall(frame(HELLO))
                print("told", read(link))
            except OSError as error:
                print("not told", error)
            """

    @Test func `a program in a file system that never answers, mounted over an app's path, holds up no one`()
        async throws
    {
        let place = try AllowedCopy()
        defer { place.remove() }
        let app = try place.install("/usr/bin/python3", as: "notes")
        let script = try place.write(Self.script, as: "connect.py")
        let server = try place.write(Self.fileSystem, as: "files.py")
        let (files, marks) = (place.folder.appending(path: "files"), place.folder.appending(path: "marks"))
        for folder in [files, marks] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        try #require(chmod(marks.path, 0o777) == 0)
        let mark = marks.appending(path: "silent").path
        let stand = try BrokerStand { $0.apps = [AllowedApp(name: "notes", path: app, clientIDs: ["notes"])] }
        try await ServedBroker.serve(stand) { socket, _ in
            let mount = #"mount --bind "$1/program" "$2" && exec "$2" -I "$3" "$4" "$5""#
            let silent = try await Program.run(
                "/usr/bin/python3",
                [server, files.path, app, mark]
                    + OtherUser.command([
                        "unshare", "-Urm", "sh", "-c", mount, "sh", files.path, app, script, socket, mark,
                    ])
            ).everything
            #expect(silent.contains("told") && silent.contains("brokerDenied"), "\(silent)")
            let genuine = try await OtherUser.run([app, "-I", script, socket, mark])
            #expect(genuine.contains(#""hello""#), "\(genuine)")
        }
    }

    @Test func `what the kernel remembers of a file is what the file system says of it`() throws {
        for path in ["/proc/self/exe", "/usr/bin/env", "/etc/passwd", "/proc/self/stat", "/dev/null"] {
            var facts = stat()
            try #require(stat(path, &facts) == 0)
            let remembered = try #require(RememberedFile(path))
            let asked = RememberedFile(facts)
            #expect(remembered.device == asked.device && remembered.inode == asked.inode, "\(path)")
            #expect(remembered.owner == asked.owner && remembered.size == asked.size, "\(path)")
            if !path.hasPrefix("/proc/self/stat") { #expect(remembered.changed == asked.changed, "\(path)") }
        }
        #expect(RememberedFile("/no/such/file") == nil)
    }
}
