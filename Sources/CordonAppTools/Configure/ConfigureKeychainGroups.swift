extension ConfigurationRun {
    private static let prefix = "$(AppIdentifierPrefix)"

    /// The keychain groups in their order: the app's own, the shared one, the token cache (TL-CF-28, 29).
    mutating func configureKeychainGroups() throws(AppToolsError) {
        guard let entitlements else { return }
        let present = entitlements.value["keychain-access-groups"]?.strings ?? []
        var wanted = present
        if wanted.first.map({ isGroup($0, names.sharedKeychainGroup) }) ?? true {
            if !wanted.isEmpty {
                noteEntitlements(
                    options.writesEntitlements ? .note : .error, "CF-KEYCHAIN",
                    "the shared group stands first; the app's own group must")
            }
            wanted.removeAll { $0 == ownGroup }
            wanted.insert(ownGroup, at: 0)
        }
        let cache = setting("TokenCacheKeychainGroup")?.string ?? names.tokenCacheKeychainGroup
        for group in [names.sharedKeychainGroup, cache] where !wanted.contains(where: { isGroup($0, group) }) {
            wanted.append(Self.prefix + group)
        }
        if options.prunes {
            wanted.removeAll { isGroup($0, names.withdrawnKeychainGroup) }
        } else if wanted.contains(where: { isGroup($0, names.withdrawnKeychainGroup) }) {
            noteEntitlements(
                .note, "CF-WITHDRAWN", "\(names.withdrawnKeychainGroup) is no longer needed; --prune removes it")
        }
        guard wanted != present else { return }
        guard options.writesEntitlements else {
            let known = Set(present)
            for group in wanted where !known.contains(group) {
                noteEntitlements(.warning, "CF-ENTITLEMENT", "add to keychain-access-groups: <string>\(group)</string>")
            }
            return
        }
        try write(wanted, over: present)
    }

    private var ownGroup: String {
        Self.prefix + (info.value["CFBundleIdentifier"]?.string ?? "$(PRODUCT_BUNDLE_IDENTIFIER)")
    }

    private func isGroup(_ entry: String, _ group: String) -> Bool {
        entry == group || entry.hasSuffix(")" + group) || isTeamed(entry, group)
    }

    /// A group behind a team identifier of ten characters.
    private func isTeamed(_ entry: String, _ group: String) -> Bool {
        guard entry.hasSuffix("." + group) else { return false }
        let team = entry.dropLast(group.count + 1)
        return team.count == 10 && team.allSatisfy { $0.isASCII && ($0.isNumber || $0.isUppercase) }
    }

    private mutating func write(_ wanted: [String], over present: [String]) throws(AppToolsError) {
        let path: [PropertyListPath] = ["keychain-access-groups"]
        guard var editor = entitlements else { return }
        if editor.value.part(at: path) == nil { try editor.set(.array([]), at: path) }
        for (index, group) in present.enumerated().reversed()
        where !wanted.contains(group) || (index > 0 && group == wanted.first) {
            try editor.remove(at: path + [.index(index)])
        }
        for (index, group) in wanted.enumerated() {
            let now = editor.value.part(at: path)?.strings ?? []
            if index >= now.count || now[index] != group {
                try editor.insert(.string(group), into: path, at: min(index, now.count))
            }
        }
        entitlements = editor
    }
}
