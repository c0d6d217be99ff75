#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A group of the operating system.
struct SystemGroup: Sendable, Equatable {
    let number: UInt32
    /// The names of its members; empty for a group that only programs are installed with.
    let members: [String]

    init(number: UInt32, members: [String]) {
        self.number = number
        self.members = members
    }

    /// Looks a group up by its name or number; nil where there is none. A number without a name has no members.
    init?(_ text: String) {
        var entry = group()
        var found: UnsafeMutablePointer<group>?
        var room = [CChar](repeating: 0, count: 65_536)
        let status: Int32
        if let number = UInt32(text) {
            status = getgrgid_r(number, &entry, &room, room.count, &found)
            if status == 0, found == nil {
                self.init(number: number, members: [])
                return
            }
        } else {
            status = getgrnam_r(text, &entry, &room, room.count, &found)
        }
        guard status == 0, let found else { return nil }
        var members: [String] = []
        var next = found.pointee.gr_mem
        while let member = next?.pointee {
            members.append(String(cString: member))
            next = next?.advanced(by: 1)
        }
        self.init(number: found.pointee.gr_gid, members: members)
    }

    /// The group that a user logs in with; nil for a user without an entry.
    static func primary(of user: UInt32) -> UInt32? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var room = [CChar](repeating: 0, count: 65_536)
        guard getpwuid_r(user, &entry, &room, room.count, &found) == 0 else { return nil }
        return found?.pointee.pw_gid
    }
}
