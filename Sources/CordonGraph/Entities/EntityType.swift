/// Types of entities and the types that they are made from (SRV-OP-002, SRV-OP-088).
enum EntityType {
    /// The types that are made from another one.
    static let bases = [
        "managedAppProtection": "managedAppPolicy", "managedAppConfiguration": "managedAppPolicy",
        "targetedManagedAppProtection": "managedAppProtection",
        "iosManagedAppProtection": "targetedManagedAppProtection",
        "androidManagedAppProtection": "targetedManagedAppProtection",
        "defaultManagedAppProtection": "managedAppProtection",
        "targetedManagedAppConfiguration": "managedAppConfiguration",
        "iosManagedAppRegistration": "managedAppRegistration", "managedApp": "mobileApp",
        "managedMobileLobApp": "managedApp", "managedIOSLobApp": "managedMobileLobApp",
        "managedIOSStoreApp": "managedApp", "user": "directoryObject", "group": "directoryObject",
    ]

    private static let foldedBases = Dictionary(
        uniqueKeysWithValues: bases.map { ($0.lowercased(), $1.lowercased()) })

    /// The types that a path may cast to, in lower case.
    static let castable = Set(foldedBases.keys).union(foldedBases.values)

    /// Whether what is of a type is of another too: of the same, or of one that it is made from.
    ///
    /// - Parameters:
    ///   - type: What an entity says in `@odata.type`.
    ///   - other: A type with its namespace, in lower case.
    static func isOne(_ type: String, of other: String) -> Bool {
        let namespace = "microsoft.graph."
        let name = type.lowercased().drop { $0 == "#" }
        guard name.hasPrefix(namespace), other.hasPrefix(namespace) else { return name == other }
        let wanted = String(other.dropFirst(namespace.count))
        var present: String? = String(name.dropFirst(namespace.count))
        while let type = present, type != wanted { present = foldedBases[type] }
        return present != nil
    }
}
