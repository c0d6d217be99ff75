public import Foundation

/// Something small that administrators keep beside policies: an assignment filter, a scope tag, an app of the catalogue.
public protocol AdministeredResource: StoredRecord {
    /// The id that clients use; unlike the stored one with its case.
    var id: String { get }
    /// The word for it in the audit log.
    static var auditName: String { get }
    /// What a caller must be allowed to do to write one.
    static var writing: Permission { get }
    /// The name that no other of the type may have, nil where names may repeat.
    var uniqueName: String? { get }

    /// The version that a change may name; nil by default, for what has none.
    var entityVersion: String? { get }

    /// Whether policies may reach others when one of the type changes; true by default.
    static var isTargeting: Bool { get }

    /// Refuses what cannot be meant.
    ///
    /// - Throws: ``ServiceError`` with code `invalid` or `conflict`.
    func check() throws(ServiceError)

    /// Refuses a new one whose maker has as many as one caller may have; nothing by default.
    ///
    /// - Parameter others: Every other one of the type.
    /// - Throws: ``ServiceError`` with code `tooManyRequests`.
    func checkShare(among others: [Self], at now: Date) throws(ServiceError)

    /// The texts that an administrator wrote and people read.
    var shownTexts: [StoredText] { get }

    /// Whether a policy may reach others when this changes; false by default.
    func concerns(_ policy: ManagedAppPolicy) -> Bool

    /// Whether policies that it concerns may reach others with it than with another one in its place, nil for none; false by default.
    func movesPolicies(from before: Self?) -> Bool

    /// Whether they may when it goes; false by default.
    var movesPoliciesWhenRemoved: Bool { get }

    /// Whether a policy names this, so that it cannot be removed; false by default.
    func isUsed(by policy: ManagedAppPolicy) -> Bool

    /// Whether one in place of another lets people do what needs a second person to grant; false by default.
    func grantsMore(than before: Self?) -> Bool
}

extension AdministeredResource {
    /// None.
    public var uniqueName: String? { nil }
    /// None.
    public var entityVersion: String? { nil }
    /// True.
    public static var isTargeting: Bool { true }
    /// None.
    public func concerns(_ policy: ManagedAppPolicy) -> Bool { false }
    /// False.
    public func movesPolicies(from before: Self?) -> Bool { false }
    /// False.
    public var movesPoliciesWhenRemoved: Bool { false }
    /// Nothing.
    public func grantsMore(than before: Self?) -> Bool { false }
    /// None.
    public func isUsed(by policy: ManagedAppPolicy) -> Bool { false }

    /// Nothing.
    public func checkShare(among others: [Self], at now: Date) throws(ServiceError) {}

    /// Refuses an unusable name.
    func checkName(_ name: String) throws(ServiceError) {
        guard (1...256).contains(name.count) else { throw unacceptable("displayName", "needs 1 to 256 characters") }
    }

    /// The refusal of one member.
    func unacceptable(_ member: String, _ reason: String) -> ServiceError {
        ServiceError(.invalid, "\(member) is not acceptable", problems: [.init(member: member, reason: reason)])
    }
}

/// The small things beside policies.
public protocol ResourceAdministration: Sendable {
    /// Every one of the type, ordered by id.
    func resources<Resource: AdministeredResource>(_ type: Resource.Type, as administrator: Administrator)
        async throws(ServiceError) -> [Resource]

    /// One of the type.
    func resource<Resource: AdministeredResource>(_ type: Resource.Type, _ id: String, as administrator: Administrator)
        async throws(ServiceError) -> Resource

    /// Adds one, or replaces the one with its id; whom that reaches is told to check in.
    ///
    /// - Parameter isNew: Whether there must be none with the id yet.
    /// - Throws: ``ServiceError``: `invalid`, or `conflict` where the name or the id is taken.
    func saveResource<Resource: AdministeredResource>(
        _ resource: Resource, isNew: Bool, as administrator: Administrator
    ) async throws(ServiceError)

    /// Removes one.
    ///
    /// - Throws: ``ServiceError``: `notFound`, or `conflict` while a policy names it.
    func removeResource<Resource: AdministeredResource>(
        _ type: Resource.Type, _ id: String, as administrator: Administrator
    ) async throws(ServiceError)
}
