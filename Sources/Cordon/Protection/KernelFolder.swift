#if !canImport(Darwin)
    internal import CordonAEADShim
    internal import Foundation

    #if canImport(Glibc)
        internal import Glibc
    #elseif canImport(Musl)
        internal import Musl
    #endif

    // On Linux the members of `stat` come with whichever of these the compiler met first.
    #if canImport(CoreFoundation)
        internal import CoreFoundation
    #endif
    #if canImport(CDispatch)
        internal import CDispatch
    #endif

    /// Reads files of `/proc` that the kernel itself provides, never files that someone has mounted over them.
    ///
    /// Every user may make namespaces, and in them set a clock and put mounts over files of `/proc`. The kernel's own is told from those by what no
    /// mount changes: the folder's number, the inodes that its lists name, and a path that goes through no mount at all.
    enum KernelFolder {
        /// The kernel's name for the machine's start, where this process goes by the machine's clock; nil where one of both cannot be told.
        static func machineStart(below path: String = "/proc") -> String? {
            guard let folder = Descriptor(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
                let facts = folder.facts, facts.st_ino == rootInode, cordon_is_proc(folder.number) == 1,
                goesByMachineClock(folder)
            else { return nil }
            return bootID(folder, on: facts.st_dev)
        }

        /// `PROC_ROOT_INO`.
        private static let rootInode = 1

        /// Whether this process is in the machine's own time namespace: the user who makes another one sets its clock.
        private static func goesByMachineClock(_ folder: borrowing Descriptor) -> Bool {
            let process = cordon_name_in_mount(folder.number, "self", 1)
            // The call is as old as time namespaces. Who forbids it to a process of a later kernel does not make that one an older one.
            if process < 0, errno == ENOSYS { return isOlderThanTimeNamespaces }
            guard let process = Descriptor(process) else { return false }
            let link = cordon_name_in_mount(process.number, "ns/time", 0)
            // A kernel that was built without them.
            if link < 0, errno == ENOENT { return true }
            guard let link = Descriptor(link) else { return false }
            var name = [CChar](repeating: 0, count: 64)
            let count = readlinkat(link.number, "", &name, name.count)
            // The kernel's number for the machine's own (`PROC_TIME_INIT_INO`).
            return String(decoding: name.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
                == "time:[4026531834]"
        }

        /// Linux has time namespaces since 5.6. A version 2 is one that a process asked to be told.
        private static var isOlderThanTimeNamespaces: Bool {
            let version = ProcessInfo.processInfo.operatingSystemVersion
            return (3...4).contains(version.majorVersion) || version.majorVersion == 5 && version.minorVersion < 6
        }

        /// The boot id. Containers have `/proc/sys` mounted once more over itself, which is the same folder.
        private static func bootID(_ root: consuming Descriptor, on device: dev_t) -> String? {
            var place = root
            for name in ["sys", "kernel", "random", "boot_id"] {
                guard let next = Descriptor(openat(place.number, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)),
                    let facts = next.facts, facts.st_dev == device, inode(of: name, in: place) == facts.st_ino
                else { return nil }
                place = next
            }
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = read(place.number, &bytes, bytes.count)
            let id = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            return UUID(uuidString: id) == nil ? nil : id
        }

        /// The inode that a folder's list names, which is the one below a mount.
        private static func inode(of name: String, in folder: borrowing Descriptor) -> ino_t? {
            let copy = openat(folder.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard copy >= 0 else { return nil }
            guard let list = fdopendir(copy) else {
                close(copy)
                return nil
            }
            defer { closedir(list) }
            while let entry = readdir(list) {
                let isNamed = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                    bytes.prefix { $0 != 0 }.elementsEqual(name.utf8)
                }
                if isNamed { return entry.pointee.d_ino }
            }
            return nil
        }

        /// An open file or folder.
        private struct Descriptor: ~Copyable {
            let number: Int32

            init?(_ number: Int32) {
                guard number >= 0 else { return nil }
                self.number = number
            }

            deinit { close(number) }

            var facts: stat? {
                var facts = stat()
                return fstat(number, &facts) == 0 ? facts : nil
            }
        }
    }
#endif
