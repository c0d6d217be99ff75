internal import Foundation

extension SettingCodec where Value: NamedOptionSet {
    /// Exceptions from a block, by name: fewer are stricter, and an unknown one excepts nothing.
    static var places: SettingCodec {
        SettingCodec(
            read: { (json: JSONValue) throws(PolicyError) -> Reading in
                var (value, understood) = (Value(), true)
                for name in try readTexts(json) {
                    let known = Value.names.first { $0.name.lowercased() == name.lowercased() }
                    if let known { value.formUnion(known.member) } else { understood = false }
                }
                return Reading(value: value, understood: understood)
            },
            write: { value in .array(Value.names.filter { value.contains($0.member) }.map { .string($0.name) }) },
            join: { $0.intersection($1) }, names: Value.names.map(\.name))
    }
}

extension SettingCodec where Value == Set<String> {
    /// Universal links; `fewer` says whether the shorter list is stricter.
    static func links(fewer: Bool) -> SettingCodec {
        SettingCodec(
            read: { (json: JSONValue) throws(PolicyError) -> Reading in
                Reading(value: Set(try readTexts(json).map { $0.lowercased() }), understood: true)
            },
            write: { .array($0.sorted().map { .string($0) }) },
            join: { fewer ? $0.intersection($1) : $0.union($1) })
    }

    /// URL schemes in name and value pairs, each value a list with semicolons (SRV-RS-088).
    static var schemes: SettingCodec {
        SettingCodec(
            read: { (json: JSONValue) throws(PolicyError) -> Reading in
                guard let pairs = json.array else { throw .wrong(json, needed: "a list of pairs") }
                var schemes: Set<String> = []
                for pair in pairs {
                    guard let value = pair["value"]?.string else {
                        throw PolicyError(.wrongType, "a pair has a name and a value, both text", at: "")
                    }
                    schemes.formUnion(splitList(value))
                }
                return Reading(value: schemes, understood: true)
            },
            write: { schemes in
                let text = schemes.sorted().map { $0 + ";" }.joined()
                return schemes.isEmpty ? .array([]) : .array([["name": "Default", "value": .string(text)]])
            },
            join: { $0.intersection($1) })
    }
}

extension SettingCodec where Value == Set<String>? {
    /// Device models with semicolons between; unset admits every model, and a list that names none (`;`) admits none, which
    /// two lists without a common model amount to.
    static var models: SettingCodec {
        SettingCodec(
            read: { (json: JSONValue) throws(PolicyError) -> Reading in
                guard let text = json.string else { throw .wrong(json, needed: "models with ; between") }
                let isUnset = text.allSatisfy(\.isWhitespace)
                return Reading(value: isUnset ? nil : splitList(text), understood: true)
            },
            write: { models in
                models.map { .string($0.isEmpty ? ";" : $0.sorted().joined(separator: ";")) } ?? .null
            },
            join: { one, two in
                guard let first = one, let second = two else { return .some(one ?? two) }
                return .some(first.intersection(second))
            },
            isUnset: { $0 == nil })
    }
}

extension SettingCodec where Value == String? {
    /// Text of which none is stricter: the policy with the lower id decides.
    static var text: SettingCodec {
        SettingCodec(
            read: { (json: JSONValue) throws(PolicyError) -> Reading in
                guard let text = json.string else { throw .wrong(json, needed: "text") }
                guard text.utf8.count <= 4096 else { throw PolicyError(.tooLarge, "longer than 4096 bytes", at: "") }
                return Reading(value: text.isEmpty ? nil : text, understood: true)
            },
            write: { $0.map { .string($0) } ?? .null },
            join: { _, _ in nil },
            isUnset: { $0 == nil })
    }
}

private func readTexts(_ json: JSONValue) throws(PolicyError) -> [String] {
    guard let values = json.array else { throw .wrong(json, needed: "a list") }
    var texts: [String] = []
    for value in values where value != .null {
        guard let text = value.string else { throw .wrong(value, needed: "text in the list") }
        texts.append(text)
    }
    return texts
}

private func splitList(_ text: String) -> Set<String> {
    Set(text.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }.filter { !$0.isEmpty })
}
