import CordonPolicy
import CordonService
import CordonServiceHTTP

extension GraphExchange {
    /// The person of the path's first key, by object id or sign-in name.
    func user(_ administration: Administration) async throws -> DirectoryUser {
        try await directory {
            try await administration.user(keys[0], as: administrator)
        }
    }

    /// The policies of some kinds.
    func policies(
        _ administration: Administration, of kinds: Set<PolicyKind> = Set(PolicyKind.allCases)
    ) async throws -> [ManagedAppPolicy] {
        try await administration.policies(of: kinds, as: administrator)
    }

    /// The registrations that a filter lets through.
    func registrations(
        _ administration: Administration, _ filter: RegistrationFilter = RegistrationFilter()
    ) async throws -> [Registration] {
        try await administration.registrations(filter, as: administrator)
    }

    /// The people with some object ids; those whom the directory does not know are left out.
    func users(_ ids: Set<String>, _ administration: Administration) async throws -> [DirectoryUser] {
        guard !ids.isEmpty else { return [] }
        return try await directory { try await administration.users(ids, as: administrator) }
    }

    /// A policy as this request's version shows it.
    func json(_ policy: ManagedAppPolicy, expanding: Bool = true) -> JSONValue {
        PolicyEntity(policy: policy, version: version).json(expanding: expanding ? query.expand : [], root: root)
    }

    /// A text of the body.
    ///
    /// - Throws: ``Refusal`` with status 400 where it is no text; nil where it is absent or null.
    static func text(_ name: String, in body: [String: JSONValue]) throws -> String? {
        guard let value = body[name], value != .null else { return nil }
        guard let text = value.string else { throw PolicyInput.refusal(name, "needs to be a text") }
        return text
    }

    /// A list of texts of a body; nil where it is null or absent.
    ///
    /// - Throws: ``Refusal`` with status 400 where it is anything else.
    static func texts(_ name: String, in body: [String: JSONValue]) throws -> [String]? {
        guard let value = body[name], value != .null else { return nil }
        let texts = value.array?.compactMap(\.string)
        guard let texts, texts.count == value.array?.count else {
            throw PolicyInput.refusal(name, "needs to be a list of texts")
        }
        return texts
    }

    /// A text of a body that changes something: null unsets, absent leaves what was known (SRV-RS-013).
    ///
    /// - Throws: ``Refusal`` with status 400 where it is no text.
    static func text(
        _ name: String, in body: [String: JSONValue], else known: String?
    ) throws -> String? {
        body[name] == nil ? known : try text(name, in: body)
    }
}
