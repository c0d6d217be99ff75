internal import CordonIdentity

/// What the header of a file has to say because of the place where the file was found.
struct HeaderExpectation {
    let owner: AccountID
    let version: FormatVersion
    let name: SealedName

    /// A file of version 1, which says whose it is and nothing more.
    static func former(of owner: AccountID) -> HeaderExpectation {
        HeaderExpectation(owner: owner, version: .one, name: .none)
    }

    /// Looks at what stands in the clear, before any key is used.
    ///
    /// - Throws: `damaged` for a header of another file.
    func admit(_ header: SealedHeader) throws(VaultError) {
        guard header.owner == owner, header.version == version else { throw Self.misplaced }
    }

    /// Looks at what the header held sealed.
    ///
    /// - Throws: `damaged` for another file's name.
    func admit(_ found: SealedName) throws(VaultError) {
        guard found == name else { throw Self.misplaced }
    }

    private static let misplaced = VaultError(.damaged, "The file was put in place of another one.")
}
