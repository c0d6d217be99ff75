public import CordonProtocol

extension DevelopmentDirectory {
    /// Checks everything a file could get wrong: ids, names, references and password hashes.
    ///
    /// - Throws: ``ProgramError`` with code `directoryInvalid`; its place names the first bad value, like
    ///   `people[2].userPrincipalName`.
    public func validate() throws(ProgramError) {
        try Self.check(Self.isIdentifier(tenantID), at: "tenantId", Self.identifierRule, Self.identifierHint)
        var identifiers: Set<String> = []
        var names: Set<String> = []
        for (index, person) in people.enumerated() {
            try Self.validate(person, at: "people[\(index)]", identifiers: &identifiers, names: &names)
        }
        let known = identifiers
        for (index, group) in groups.enumerated() {
            let place = "groups[\(index)]"
            try Self.checkIdentifier(group.id, at: place, among: &identifiers)
            try Self.checkDisplayName(group.displayName, at: place)
            for (position, member) in group.members.enumerated() {
                try Self.check(
                    known.contains(member), at: "\(place).members[\(position)]", "no person has this id",
                    "name the id of one of the people, or remove the member")
            }
            try Self.check(
                Set(group.members).count == group.members.count, at: "\(place).members", "a member is listed twice",
                "list each member once")
        }
    }

    private static func validate(
        _ person: Person, at place: String, identifiers: inout Set<String>, names: inout Set<String>
    ) throws(ProgramError) {
        try checkIdentifier(person.id, at: place, among: &identifiers)
        let name = person.userPrincipalName
        try check(
            isPrincipalName(name), at: "\(place).userPrincipalName", "must look like name@domain",
            "use at most 254 printable characters without spaces and exactly one @")
        try check(
            names.insert(name.lowercased()).inserted, at: "\(place).userPrincipalName",
            "another person signs in with this name", "give each person a name of their own, whatever its case")
        try checkDisplayName(person.displayName, at: place)
        for (index, role) in person.roles.enumerated() {
            try check(
                (1...100).contains(role.count) && isPrintable(role), at: "\(place).roles[\(index)]",
                "a role must have 1 to 100 printable characters", "name a role of the admin API")
        }
        if let problem = person.password.problem {
            try check(
                false, at: "\(place).password", problem, "hash the password again with the defaults")
        }
    }

    private static let identifierRule = "must have 1 to 128 letters, digits, '-', '_', '.' or '~'"
    private static let identifierHint = "use a UUID"

    private static func checkIdentifier(
        _ id: String, at place: String, among identifiers: inout Set<String>
    ) throws(ProgramError) {
        try check(isIdentifier(id), at: "\(place).id", identifierRule, identifierHint)
        try check(
            identifiers.insert(id).inserted, at: "\(place).id", "this id is taken",
            "give every person and group an id of its own")
    }

    private static func checkDisplayName(_ name: String, at place: String) throws(ProgramError) {
        try check(
            (1...200).contains(name.count) && isPrintable(name), at: "\(place).displayName",
            "must have 1 to 200 printable characters", "write the name to show")
    }

    private static func check(
        _ condition: Bool, at place: String, _ reason: String, _ hint: String
    ) throws(ProgramError) {
        guard condition else {
            throw ProgramError(.directoryInvalid, reason: reason, place: place, hint: hint)
        }
    }

    private static func isIdentifier(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                    UInt8(ascii: "~"):
                    true
                default: false
                }
            }
    }

    private static func isPrincipalName(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return text.utf8.count <= 254 && parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && isPrintable(text)
            && !text.contains { $0.isWhitespace }
    }

    private static func isPrintable(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
            default: true
            }
        }
    }
}
