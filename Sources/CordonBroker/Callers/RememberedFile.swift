#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import CoreFoundation
    internal import Glibc
#elseif canImport(Musl)
    internal import CoreFoundation
    internal import Musl
#endif

#if canImport(CDispatch)
    internal import CDispatch
#endif

/// What tells a file from every other one.
struct RememberedFile: Sendable, Hashable {
    let device: UInt64
    let inode: UInt64
    let owner: UInt32
    let size: Int64
    let changed: Int64

    /// Takes what the file system said.
    init(_ facts: stat) {
        #if canImport(Darwin)
            let time = facts.st_ctimespec
        #else
            let time = facts.st_ctim
        #endif
        device = UInt64(truncatingIfNeeded: facts.st_dev)
        inode = UInt64(truncatingIfNeeded: facts.st_ino)
        owner = facts.st_uid
        size = Int64(facts.st_size)
        changed = Self.nanoseconds(Int64(time.tv_sec), Int64(time.tv_nsec))
    }

    /// Asks for an open file; nil where it cannot be asked for.
    init?(descriptor: Int32) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { return nil }
        self.init(facts)
    }

    /// Asks the kernel what it remembers of the file at a path; nil where there is none, or it does not say.
    ///
    /// A file that runs is known to the kernel. Its file system is not asked: a program of the device's user may be that file system, and
    /// then never answer, and a thread that waits for it cannot even be interrupted.
    init?(_ path: String) {
        #if os(Linux)
            guard let ask = Self.ask else { return nil }
            // `struct statx`, which the system's module does not show to Swift: 256 bytes, laid out alike on every machine.
            var facts = [UInt64](repeating: 0, count: 32)
            let isKnown = facts.withUnsafeMutableBytes { room in
                room.baseAddress.map { ask(AT_FDCWD, path, Self.withoutAsking, Self.everything, $0) } == 0
            }
            guard isKnown else { return nil }
            self = facts.withUnsafeBytes { Self(of: $0) }
        #else
            return nil
        #endif
    }

    // A foreign file system may say anything; only equality counts.
    private static func nanoseconds(_ seconds: Int64, _ rest: Int64) -> Int64 { seconds &* 1_000_000_000 &+ rest }

    #if os(Linux)
        private typealias Ask =
            @convention(c) (
                Int32, UnsafePointer<CChar>, Int32, UInt32, UnsafeMutableRawPointer
            ) -> Int32

        /// `statx`; nil where the C library is too old for it.
        private static let ask: Ask? = dlopen(nil, RTLD_NOW).flatMap { dlsym($0, "statx") }.map {
            unsafeBitCast($0, to: Ask.self)
        }
        /// `AT_STATX_DONT_SYNC`.
        private static let withoutAsking: Int32 = 0x4000
        /// `STATX_BASIC_STATS`.
        private static let everything: UInt32 = 0x7FF

        private init(of facts: UnsafeRawBufferPointer) {
            let (major, minor) = (
                UInt64(facts.load(fromByteOffset: 136, as: UInt32.self)),
                UInt64(facts.load(fromByteOffset: 140, as: UInt32.self))
            )
            // As `stat` puts the two numbers into one.
            device = (major & ~0xFFF) << 32 | (major & 0xFFF) << 8 | (minor & ~0xFF) << 12 | minor & 0xFF
            inode = facts.load(fromByteOffset: 32, as: UInt64.self)
            owner = facts.load(fromByteOffset: 20, as: UInt32.self)
            size = Int64(bitPattern: facts.load(fromByteOffset: 40, as: UInt64.self))
            changed = Self.nanoseconds(
                facts.load(fromByteOffset: 96, as: Int64.self),
                Int64(facts.load(fromByteOffset: 104, as: UInt32.self)))
        }
    #endif
}
