import CordonTestSupport
import Foundation
import Testing

/// Programs that belong to root, in a folder that others may read and not change, as an administrator installs them.
struct AllowedCopy {
    let folder: URL

    init() throws {
        folder = TemporaryFolder.newPath()
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    /// Copies a program of the system; its path.
    func install(_ program: String, as name: String, group: gid_t? = nil) throws -> String {
        let copy = folder.appending(path: name).path
        let real = URL(filePath: program).resolvingSymlinksInPath().path
        try FileManager.default.copyItem(atPath: real, toPath: copy)
        if let group { try #require(chown(copy, 0, group) == 0 && chmod(copy, 0o2755) == 0) }
        return copy
    }

    /// Writes a script that others can read; its path.
    func write(_ script: String, as name: String) throws -> String {
        let path = folder.appending(path: name).path
        try Data(script.utf8).write(to: URL(filePath: path))
        return path
    }

    /// What scripts begin with: frames over a connection, without a fixed wait for anything.
    static let frames = """
        import os, select, socket, struct, sys
        def frame(text): return struct.pack(">I", len(text)) + text.encode()
        def read(link):
            size = link.recv(4, socket.MSG_WAITALL)
            if len(size) < 4: return ""
            return link.recv(struct.unpack(">I", size)[0], socket.MSG_WAITALL).decode()
        def connect():
            link = socket.socket(socket.AF_UNIX)
            link.connect(sys.argv[1])
            link.settimeout(100)
            return link
        HELLO = '{"id":1,"verb":"hello","versions":[1,2],"clientID":"notes"}'

        """
}
