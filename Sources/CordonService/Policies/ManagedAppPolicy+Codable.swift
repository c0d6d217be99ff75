internal import CordonPolicy
internal import Foundation

/// Stored with the document as text, so that no digit of a number is lost.
extension ManagedAppPolicy: Codable {
    private enum Member: String, CodingKey {
        case id, kind, version, created, modified, document, apps, appGroup, assignments
    }

    /// Reads a stored policy.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        let text = try members.decode(String.self, forKey: .document)
        self.init(
            id: try members.decode(String.self, forKey: .id),
            kind: try members.decode(PolicyKind.self, forKey: .kind),
            version: try members.decode(String.self, forKey: .version),
            created: try members.decode(Date.self, forKey: .created),
            modified: try members.decode(Date.self, forKey: .modified),
            document: try JSONValue(parsing: Data(text.utf8)),
            apps: try members.decode([MobileAppIdentifier].self, forKey: .apps),
            appGroup: try members.decode(AppGroup.self, forKey: .appGroup),
            assignments: try members.decode([PolicyAssignment].self, forKey: .assignments))
    }

    /// Writes a policy for the store.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(id, forKey: .id)
        try members.encode(kind, forKey: .kind)
        try members.encode(version, forKey: .version)
        try members.encode(created, forKey: .created)
        try members.encode(modified, forKey: .modified)
        try members.encode(document.text(), forKey: .document)
        try members.encode(apps, forKey: .apps)
        try members.encode(appGroup, forKey: .appGroup)
        try members.encode(assignments, forKey: .assignments)
    }
}
