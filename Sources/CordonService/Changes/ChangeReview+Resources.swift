internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

extension JSONValue {
    /// The JSON of a message, nil where it has none.
    init?(encoding message: some Encodable) {
        guard let bytes = try? MessageCoding.encode(message), let value = try? JSONValue(parsing: bytes) else {
            return nil
        }
        self = value
    }
}

extension AdministeredResource {
    /// What it says, lists of names in order: for showing and logging what a change makes of it. When it was written is no part of that.
    var content: JSONValue? {
        if let entity = self as? any VersionedEntity { return entity.versionDocument }
        return JSONValue(encoding: self)?.object.map { members in
            .object(
                members.mapValues { value in
                    guard let list = value.array, case let names = list.compactMap(\.string), names.count == list.count
                    else { return value }
                    return .array(names.sorted().map(JSONValue.string))
                })
        }
    }
}

extension ChangeReview {
    /// What a change of a filter, an app of the catalogue or another small thing would do.
    ///
    /// - Parameters:
    ///   - new: What it would be, nil for its end.
    ///   - old: What it is, nil for a new one.
    /// - Throws: ``ServiceError`` with code `forbidden` where policies reach others by it that the roles of the caller are not about.
    func proposal<Resource: AdministeredResource>(
        of new: Resource?, replacing old: Resource?, as administrator: Administrator, in records: some StorageReader
    ) throws(ServiceError) -> ProposedChange {
        let id = (new ?? old)?.id ?? ""
        var app = (new ?? old) as? CatalogueApp
        // One that goes is in no set any more.
        if new == nil { app?.groups = [] }
        // What else is said of an app may be changed between a release and the change: its version is no part of what was released.
        let base = app == nil ? old?.entityVersion : nil
        var proposal = ProposedChange(
            filter: new as? AssignmentFilter, app: app,
            contents: (old?.content, new?.content), action: "\(Resource.auditName).\(new == nil ? "remove" : "save")",
            entity: "\(Resource.auditName)/\(id)", base: base, secrets: try records.secretValues())
        // One that leaves policies where they are takes no more than to write it.
        if new?.movesPolicies(from: old) ?? old?.movesPoliciesWhenRemoved ?? false, let moving = new ?? old {
            proposal.concerned = try records.records(ManagedAppPolicy.self).filter(moving.concerns)
            try administrator.requireMoving(proposal.concerned, Resource.writing)
        }
        return proposal
    }
}
