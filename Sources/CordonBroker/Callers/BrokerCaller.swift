/// The caller as the system describes it; nothing here comes from a message (SI-189).
public struct BrokerCaller: Sendable, Hashable {
    /// The user at the time of connecting.
    public let user: UInt32
    /// The process at the time of connecting.
    public let process: Int32
    /// The program's file, after all links.
    public let path: String
    /// SHA-256 of the program's file, hexadecimal; empty where no entry asks for it.
    public let digest: String
    /// Why the program is not the one that the list means by its path; nil where nothing speaks against it.
    var objection: ProgramObjection?
    /// The groups of the list that the kernel says the caller had when it connected, as the list writes them.
    var groups: Set<String> = []
    /// The security label at the time of connecting; nil where there is none, or no entry asks for one.
    var label: String?

    /// Describes a caller.
    public init(user: UInt32, process: Int32, path: String, digest: String) {
        self.user = user
        self.process = process
        self.path = path
        self.digest = digest
    }
}
