internal import Foundation

/// Which sessions an account has a key of: kept in the secret store beside the keys, under a name that follows from the account alone.
///
/// Without it only the session's file names the key, and a sign-out while that file is elsewhere would leave the key alive.
extension TokenCache {
    /// The sessions whose keys an account may have; nil where the store knows of none.
    func namedSessions(_ name: String) throws(SignInError) -> [UUID]? {
        guard let bytes = try secrets.secret(named: Self.secret(of: name)), !bytes.isEmpty else { return nil }
        return stride(from: 0, to: bytes.count - 15, by: 16).map { place in
            let part = [UInt8](bytes.dropFirst(place).prefix(16))
            return UUID(
                uuid: (
                    part[0], part[1], part[2], part[3], part[4], part[5], part[6], part[7], part[8], part[9],
                    part[10], part[11], part[12], part[13], part[14], part[15]
                ))
        }
    }

    /// Notes the sessions of an account: before the first of their keys is made, and after the last other one is gone.
    func nameSessions(_ sessions: [UUID], of name: String) throws(SignInError) {
        let bytes = sessions.reduce(into: Data()) { bytes, session in
            withUnsafeBytes(of: session.uuid) { bytes.append(contentsOf: $0) }
        }
        try secrets.keep(bytes, named: Self.secret(of: name))
    }

    /// Forgets the sessions of an account, whose keys are gone.
    func forgetSessions(of name: String) throws(SignInError) {
        try secrets.destroy(named: Self.secret(of: name))
    }

    /// The session that an account's file says it is of; nil where there is no file, or none of this format.
    func sessionInFile(_ name: String) throws(SignInError) -> UUID? {
        let head = try TokenStoreFile.head(of: file(name, "session"), SealedHeader.size)
        return head.flatMap { SealedHeader($0) }.flatMap { $0.kind == .session ? $0.id : nil }
    }

    private static func secret(of name: String) -> String { "account-" + name }
}
