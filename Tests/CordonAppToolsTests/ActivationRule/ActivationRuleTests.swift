import Foundation
import Testing

@testable import CordonAppTools

struct ActivationRuleTests {
    let names = NamingProfile.intuneCompatible

    static func share(_ types: [String]) -> String {
        let tests = types.map { "        ANY $attachment.registeredTypeIdentifiers UTI-CONFORMS-TO \"\($0)\"" }
        return """
            SUBQUERY (
                extensionItems,
                $extensionItem,
                SUBQUERY (
                    $extensionItem.attachments,
                    $attachment,
            \(tests.joined(separator: " ||\n"))
                ).@count > 0
            ).@count > 0
            """
    }
    static let plain = ["public.url", "public.plain-text", "public.image", "public.data"]
    static let both = plain + plain.map { "com.microsoft.intune.mam." + $0 }

    private func rewritten(_ text: String, _ style: ActivationRule.Style = .keep) throws -> String {
        try ActivationRule(text).addingManagedTypes(names, style: style).description
    }

    @Test(arguments: [ActivationRule.Style.keep, .canonical])
    func `the documented share rule becomes the documented one, byte for byte`(style: ActivationRule.Style) throws {
        #expect(try rewritten(Self.share(Self.plain), style) == Self.share(Self.both))
        #expect(try rewritten(Self.share(Self.both), style) == Self.share(Self.both))
    }

    @Test(arguments: [
        "ANY registeredTypeIdentifiers BEGINSWITH 'public.'", "SELF UTI-CONFORMS-TO 'public.data'",
        "'public.data' == registeredTypeIdentifiers", "$other UTI-EQUALS \"a\"",
        "SUBQUERY(registeredTypeIdentifiers, $t,\n    $t CONTAINS 'image').@count > 0",
    ])
    func `a comparison of types that gets no managed twin is told`(rule: String) throws {
        let findings = try ActivationRule(rule + " || ANY registeredTypeIdentifiers == 'a'")
            .managedTypeFindings(names, path: "rule")
        #expect(findings.map(\.code) == ["AR-UNMANAGED"])
        #expect(findings.first?.severity == .warning)
        #expect(findings.first?.message.contains("\n") == false)
    }

    @Test func `a rule without any type is noted, one with types all paired is not`() throws {
        func codes(_ rule: String) throws -> [String] {
            try ActivationRule(rule).managedTypeFindings(names, path: "rule").map(\.code)
        }
        #expect(try codes("extensionItems.@count == 1") == ["AR-NOTYPE"])
        #expect(try codes("TRUEPREDICATE") == [])
        #expect(try codes(Self.share(Self.plain)) == [])
        #expect(try codes(Self.share(Self.both)) == [])
        #expect(try codes("SUBQUERY($a.registeredTypeIdentifiers, $t, $t == 'b').@count == 1") == [])
    }

    @Test func `the documented Open-In rule is made from document types`() throws {
        let info: PropertyListValue = .dictionary([
            "CFBundleDocumentTypes": .array([
                .dictionary(["LSItemContentTypes": .array([.string("public.text")])]),
                .dictionary([
                    "LSItemContentTypes": .array([.string("public.image")]), "CFBundleTypeRole": .string("Viewer"),
                ]),
                .dictionary(["LSItemContentTypes": .array([.string("x.y")]), "CFBundleTypeRole": .string("None")]),
                .dictionary(["CFBundleTypeName": .string("Sheets"), "CFBundleTypeExtensions": .array([.string("csv")])]
                ),
            ])
        ])
        let made = try OpenInRule(app: info, names: names)
        #expect(made.notes.count == 1)
        let expected = """
            SUBQUERY (
                extensionItems,
                $extensionItem,
                SUBQUERY (
                    $extensionItem.attachments,
                    $attachment,
                    ANY $attachment.registeredTypeIdentifiers UTI-CONFORMS-TO "com.microsoft.intune.mam.public.text" ||
                    ANY $attachment.registeredTypeIdentifiers UTI-CONFORMS-TO "com.microsoft.intune.mam.public.image"
                ).@count == 1
            ).@count == 1
            """
        #expect(made.rule.description == expected)
        #expect(
            try OpenInRule(app: info, names: names, infersTypes: true).rule.description
                .contains("com.microsoft.intune.mam.public.comma-separated-values-text"))
    }

    @Test(arguments: [
        (
            "ANY t.registeredTypeIdentifiers UTI-CONFORMS-TO \"public.data\" AND NOT (ANY t.registeredTypeIdentifiers UTI-CONFORMS-TO \"public.jpeg\")",
            "(ANY t.registeredTypeIdentifiers UTI-CONFORMS-TO \"public.data\" || ANY t.registeredTypeIdentifiers UTI-CONFORMS-TO \"m.public.data\") AND NOT (ANY t.registeredTypeIdentifiers UTI-CONFORMS-TO \"public.jpeg\" || ANY t.registeredTypeIdentifiers UTI-CONFORMS-TO \"m.public.jpeg\")"
        ),
        (
            "NONE registeredTypeIdentifiers == 'a'",
            "NONE registeredTypeIdentifiers == 'a' && NONE registeredTypeIdentifiers == 'm.a'"
        ),
        (
            "ANY registeredTypeIdentifiers IN {'a', \"b\"}",
            "ANY registeredTypeIdentifiers IN {'a', \"b\", 'm.a', \"m.b\"}"
        ),
        (
            "('a' in registeredTypeIdentifiers\r\n or  'b' IN registeredTypeIdentifiers)",
            "('a' in registeredTypeIdentifiers\r\n or  'b' IN registeredTypeIdentifiers\r\n or  'm.a' in registeredTypeIdentifiers\r\n or  'm.b' IN registeredTypeIdentifiers)"
        ),
        (
            "SUBQUERY ($a.registeredTypeIdentifiers, $uti, $uti UTI-CONFORMS-TO \"com.adobe.pdf\" || $uti == 'b').@count >= 1",
            "SUBQUERY ($a.registeredTypeIdentifiers, $uti, $uti UTI-CONFORMS-TO \"com.adobe.pdf\" || $uti == 'b' || $uti UTI-CONFORMS-TO \"m.com.adobe.pdf\" || $uti == 'm.b').@count >= 1"
        ),
        (
            "SUBQUERY(registeredTypeIdentifiers, $t, $t != 'a' && $t IN {'b'}).@count == 0",
            "SUBQUERY(registeredTypeIdentifiers, $t, ($t != 'a' && $t != 'm.a') && $t IN {'b', 'm.b'}).@count == 0"
        ),
        // The variable of the outer list is hidden by that of another one.
        (
            "SUBQUERY(registeredTypeIdentifiers, $t, SUBQUERY(names, $t, $t == 'a').@count > 0 && $t == 'b').@count > 0",
            "SUBQUERY(registeredTypeIdentifiers, $t, SUBQUERY(names, $t, $t == 'a').@count > 0 && ($t == 'b' || $t == 'm.b')).@count > 0"
        ),
        ("extensionItems.@count == 1 || TRUEPREDICATE", "extensionItems.@count == 1 || TRUEPREDICATE"),
        ("NOT registeredTypeIdentifiers CONTAINS \"M.A\"", "NOT registeredTypeIdentifiers CONTAINS \"M.A\""),
    ])
    func `types are paired in place and nothing else moves`(before: String, after: String) throws {
        let m = "com.microsoft.intune.mam."
        let expected = after.replacingOccurrences(of: "\"m.", with: "\"" + m).replacingOccurrences(
            of: "'m.", with: "'" + m)
        let input = before.replacingOccurrences(of: "M.A", with: m.uppercased() + "A")
        let wanted = expected.replacingOccurrences(of: "M.A", with: m.uppercased() + "A")
        #expect(try rewritten(input) == wanted)
        #expect(try rewritten(wanted) == wanted)
    }

    @Test(arguments: [
        "SUBQUERY(a, $b, TRUEPREDICATE", "a UTI-CONFORMS \"x\"", "a == \u{201D}x\u{201D}", "a == \"x", "a == b == c",
        "", "a &&", "ANY == 1", "a[c] == 1", String(repeating: "(", count: 5000), "f(x) == 1", "a == 1; b",
        "(TRUEPREDICATE) == 1",
    ])
    func `what is outside the grammar is refused with its place`(text: String) {
        #expect { try ActivationRule(text) } throws: { ($0 as? AppToolsError)?.place.hasPrefix("line 1") == true }
    }

    @Test(arguments: [
        (String(repeating: "(", count: 100_000), 65), (String(repeating: "NOT ", count: 50_000) + "TRUEPREDICATE", 257),
        (String(repeating: "SUBQUERY(a, $b, ", count: 5_000), 1_033),
        ("a IN " + String(repeating: "{", count: 5_000), 70),
    ])
    func `a rule that is nested deeper than any real one is refused at the level that is too deep`(
        text: String, column: Int
    ) {
        let error = #expect(throws: AppToolsError.self) { try ActivationRule(text) }
        #expect(error?.reason.hasPrefix("nested deeper than 64 levels in: ") == true)
        #expect(error?.place == "line 1, column \(column)")
        let fits = String(repeating: "(", count: 60) + "a == 1" + String(repeating: ")", count: 60)
        #expect(throws: Never.self) { try ActivationRule(fits) }
    }

    @Test func `a rule that would take too long over some items is an error`() throws {
        let rule = try ActivationRule(
            String(repeating: "SUBQUERY(extensionItems, $item, ", count: 20) + "TRUEPREDICATE"
                + String(repeating: ").@count > 0", count: 20))
        #expect(try rule.accepts([SharedItem(attachments: [])]))
        #expect(throws: AppToolsError(.unsupported, "")) {
            try rule.accepts([SharedItem(attachments: []), SharedItem(attachments: [])])
        }
    }

    @Test(arguments: [#"a == "\"b\"""#, #"a == 'it\'s'"#, "a == \"\\\u{201D}\"", "@count == 1", "SELF.@count == 2"])
    func `the canonical layout reads as the same rule`(text: String) throws {
        let canonical = try ActivationRule(text).canonical()
        #expect(try canonical.canonical() == canonical)
    }

    @Test func `constants become the documented predicate`() throws {
        let rule: PropertyListDictionary = [
            "NSExtensionActivationSupportsImageWithMaxCount": .integer(5),
            "NSExtensionActivationSupportsText": .boolean(true),
        ]
        let conversion = try ActivationConstants(rule).conversion(names)
        func test(_ type: String) -> String {
            "ANY $attachment.registeredTypeIdentifiers UTI-CONFORMS-TO \"\(type)\""
        }
        let m = names.managedTypePrefix
        #expect(
            conversion.rule.description == """
                SUBQUERY (
                    extensionItems,
                    $extensionItem,
                    SUBQUERY (
                        $extensionItem.attachments,
                        $attachment,
                        \(test("public.image")) ||
                        \(test("public.text")) ||
                        \(test(m + "public.image")) ||
                        \(test(m + "public.text"))
                    ).@count == $extensionItem.attachments.@count &&
                    SUBQUERY (
                        $extensionItem.attachments,
                        $attachment,
                        \(test("public.image")) ||
                        \(test(m + "public.image"))
                    ).@count <= 5
                ).@count == 1
                """)
        #expect(conversion.notes.count == 1)
    }

    @Test func `two limits hold at once`() throws {
        let rule: PropertyListDictionary = [
            "NSExtensionActivationSupportsImageWithMaxCount": .integer(20),
            "NSExtensionActivationSupportsMovieWithMaxCount": .integer(1),
        ]
        let made = try ActivationConstants(rule).conversion(names).rule
        func item(_ images: Int, _ movies: Int) -> [SharedItem] {
            [
                SharedItem(
                    attachments: Array(repeating: ["public.jpeg"], count: images)
                        + Array(repeating: ["public.mpeg-4"], count: movies))
            ]
        }
        #expect(try made.accepts(item(20, 1)))
        #expect(try !made.accepts(item(21, 1)))
        #expect(try !made.accepts(item(1, 2)))
        #expect(try !made.accepts([SharedItem(attachments: [["public.url"]])]))
    }

    /// Constants, then items as lists of types, and whether they are taken.
    static let constants: [(rule: PropertyListDictionary, attachments: [[String]], isTaken: Bool)] = {
        let prefix = "NSExtensionActivation"
        let (image, movie, text) = (["public.jpeg"], ["public.mpeg-4"], ["public.plain-text"])
        let images: PropertyListDictionary = [prefix + "SupportsImageWithMaxCount": .integer(2)]
        func with(_ entries: PropertyListDictionary, _ name: String, _ value: PropertyListValue)
            -> PropertyListDictionary
        {
            var all = entries
            all[prefix + name] = value
            return all
        }
        func only(_ name: String, _ value: PropertyListValue) -> PropertyListDictionary { with([:], name, value) }
        return [
            // Version 1, and none: every attachment must match; version 2: one is enough.
            (images, [image, text], false), (with(images, "DictionaryVersion", .integer(1)), [image, text], false),
            (with(images, "DictionaryVersion", .integer(2)), [image, text], true),
            (with(images, "DictionaryVersion", .integer(2)), [text], false),
            // What is said of strictness goes before the version.
            (
                with(with(images, "DictionaryVersion", .integer(2)), "UsesStrictMatching", .boolean(true)),
                [image, text], false
            ),
            (with(images, "UsesStrictMatching", .boolean(false)), [image, text], true),
            // All attachments are counted, not those of a kind.
            (with(images, "SupportsAttachmentsWithMaxCount", .integer(1)), [image], true),
            (with(images, "SupportsAttachmentsWithMaxCount", .integer(1)), [image, image], false),
            (with(images, "SupportsAttachmentsWithMinCount", .integer(2)), [image], false),
            (with(images, "SupportsAttachmentsWithMinCount", .integer(2)), [image, image], true),
            (images, [image, image], true), (images, [image, image, image], false),
            (only("SupportsMovieWithMaxCount", .integer(1)), [movie], true),
            (only("SupportsMovieWithMaxCount", .integer(1)), [image], false),
            (only("SupportsFileWithMaxCount", .integer(1)), [["public.file-url"]], true),
            (only("SupportsFileWithMaxCount", .integer(1)), [["public.file-url"], ["public.file-url"]], false),
            (only("SupportsWebURLWithMaxCount", .integer(1)), [["public.url"]], true),
            (only("SupportsWebURLWithMaxCount", .integer(1)), [["public.file-url", "public.url"]], false),
            (only("SupportsWebPageWithMaxCount", .integer(1)), [["com.apple.property-list"]], true),
            (only("SupportsWebPageWithMaxCount", .integer(1)), [image], false),
            (only("SupportsText", .boolean(true)), [text], true),
            (only("SupportsText", .integer(1)), [text, text], true),
            (only("SupportsText", .boolean(true)), [image], false),
        ]
    }()

    @Test(arguments: constants.indices)
    func `each constant counts what its name says, by version and strictness`(index: Int) throws {
        let (rule, attachments, isTaken) = Self.constants[index]
        let made = try ActivationConstants(rule).conversion(names).rule
        #expect(try made.accepts([SharedItem(attachments: attachments)]) == isTaken, "\(made)")
    }

    @Test func `a typographic quotation mark is refused where it stands, with a hint`() {
        #expect { try ActivationRule("a == \u{201D}x\u{201D}") } throws: {
            let error = $0 as? AppToolsError
            return error?.place.hasPrefix("line 1") == true
                && "\(error?.reason ?? "") \(error?.hint ?? "")".contains("quot")
        }
    }

    @Test func `an unknown constant stops the conversion with its name`() {
        #expect { try ActivationConstants(["NSExtensionActivationSupportsMagic": .integer(1)]) } throws: {
            ($0 as? AppToolsError)?.reason.contains("NSExtensionActivationSupportsMagic") == true
        }
    }
}
