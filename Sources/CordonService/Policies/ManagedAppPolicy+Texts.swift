internal import CordonPolicy

extension ManagedAppPolicy {
    /// Refuses texts that would show as something else than they are, but for those that the policy had before.
    ///
    /// - Throws: ``ServiceError`` with code `invalid`.
    func checkTexts(insteadOf before: ManagedAppPolicy?) throws(ServiceError) {
        try StoredText.check(shownTexts, keeping: before?.shownTexts ?? [])
    }

    /// What people read of the policy, in lists, comparisons and terminals: each text of the document and each name in it, the apps, and
    /// what its assignments name. The values that a configuration has for its apps are the apps' own.
    private var shownTexts: [StoredText] {
        var texts: [StoredText] = []
        for (name, value) in document.object ?? [:] {
            // A name that cannot be shown names no place.
            texts.append(StoredText("", name))
            switch name {
            case "displayName": texts.append(StoredText(name, value.string))
            case "customSettings":
                texts += StoredText.each(name, (value.array ?? []).compactMap { $0["name"]?.string })
            case "settings": break
            default: Self.add(value, of: name, to: &texts)
            }
        }
        texts += StoredText.each("apps", apps.map(\.value))
        for assignment in assignments {
            texts.append(StoredText("assignments", assignment.id))
            texts.append(StoredText("assignments", assignment.filterID))
            switch assignment.target {
            case .group(let id), .exclusionGroup(let id): texts.append(StoredText("assignments", id))
            case .allLicensedUsers, .allDevices: break
            }
        }
        return texts
    }

    /// Adds what a value of a member says and the names in it, however deep; texts that are no names may have several lines.
    private static func add(_ value: JSONValue, of member: String, to texts: inout [StoredText]) {
        switch value {
        case .string(let text): texts.append(StoredText(member, text, hasLines: true))
        case .array(let values): for value in values { add(value, of: member, to: &texts) }
        case .object(let members):
            for (name, value) in members {
                texts.append(StoredText(member, name))
                add(value, of: member, to: &texts)
            }
        default: break
        }
    }
}
