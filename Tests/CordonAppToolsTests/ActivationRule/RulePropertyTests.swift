import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

/// Random rules and items: what a rewritten rule means (TL-AR-P1 to P3).
struct RulePropertyTests {
    private static let types = ["public.image", "public.jpeg", "public.text", "public.url", "x.custom"]

    private static func test(_ random: inout SeededGenerator) -> String {
        let type = types.randomElement(using: &random) ?? ""
        let other = types.randomElement(using: &random) ?? ""
        let quantifier = ["ANY", "any", "ALL", "NONE"].randomElement(using: &random) ?? ""
        let list = "$a.registeredTypeIdentifiers"
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return "\(quantifier) \(list) UTI-EQUALS '\(type)'"
        case 1: return "\(quantifier) \(list) == \"\(type)\""
        case 2: return "\(quantifier) \(list) != \"\(type)\""
        case 3: return "\"\(type)\" IN \(list)"
        case 4: return "\(quantifier) \(list) IN {\"\(type)\", '\(other)'}"
        case 5: return "SUBQUERY(\(list), $t, $t UTI-CONFORMS-TO '\(type)' || $t == \"\(other)\").@count > 0"
        case 6: return "SUBQUERY(\(list), $t, $t != '\(type)' && $t != '\(other)').@count == 0"
        case 7: return "SUBQUERY(\(list), $t, $t IN {'\(type)', '\(other)'}).@count <= 1"
        default: return "\(quantifier) \(list) UTI-CONFORMS-TO \"\(type)\""
        }
    }

    private static func condition(_ random: inout SeededGenerator, _ depth: Int) -> String {
        guard depth > 0 else { return test(&random) }
        func inner() -> String { condition(&random, depth - 1) }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return "\(inner()) || \(inner())"
        case 1: return "(\(inner()) OR \(inner())) && \(inner())"
        case 2: return "NOT (\(inner()))"
        case 3: return "!(\(inner())) AND (\(inner()))"
        case 4: return "\(test(&random)) || \(test(&random)) || \(test(&random))"
        default: return test(&random)
        }
    }

    private static func rule(_ random: inout SeededGenerator) -> String {
        let count = ["> 0", "== 1", "== 0", "<= 2", "== $i.attachments.@count"].randomElement(using: &random) ?? ""
        let inner = "SUBQUERY($i.attachments, $a, \(condition(&random, 3))).@count \(count)"
        return "SUBQUERY(extensionItems, $i, \(inner)).@count == 1"
    }

    private static func items(_ random: inout SeededGenerator) -> [SharedItem] {
        let attachments = (0..<Int.random(in: 0..<4, using: &random)).map { _ in
            (0..<Int.random(in: 1..<4, using: &random)).map { _ in types.randomElement(using: &random) ?? "" }
        }
        return [SharedItem(attachments: attachments)]
    }

    /// Managed twins conform as their originals do, because the sender registers every supertype's twin.
    private static let hierarchy = TypeHierarchy(["public.jpeg": ["public.image"]])

    private static func managed(_ items: [SharedItem], _ prefix: String) -> [SharedItem] {
        items.map { item in
            SharedItem(attachments: item.attachments.map { types in types.map { prefix + $0 } })
        }
    }

    @Test(.seeded(as: 1), arguments: 0..<20)
    func `rewriting keeps the meaning, and gives it to managed types`(number: UInt64) throws {
        var random = SeededGenerator(TestSeed.current &+ number)
        let names = NamingProfile.intuneCompatible
        let prefix = names.managedTypePrefix
        let managedHierarchy = TypeHierarchy([prefix + "public.jpeg": [prefix + "public.image"]])
        let rounds = DeepRun.isDeep ? 600 : 20
        for _ in 0..<rounds {
            let rule = try ActivationRule(Self.rule(&random))
            let rewritten = try rule.addingManagedTypes(names)
            #expect(try rewritten.addingManagedTypes(names) == rewritten, "\(rule)")
            let canonical = try rewritten.canonical()
            #expect(try canonical.canonical() == canonical, "\(rule)")
            for _ in 0..<4 {
                let items = Self.items(&random)
                let expected = try rule.accepts(items, types: Self.hierarchy)
                #expect(try rewritten.accepts(items, types: Self.hierarchy) == expected, "\(rule) \(items)")
                #expect(try canonical.accepts(items, types: Self.hierarchy) == expected, "\(rule) \(items)")
                let twins = Self.managed(items, prefix)
                #expect(try rewritten.accepts(twins, types: managedHierarchy) == expected, "\(rule) \(items)")
            }
        }
    }

    @Test func `a rule on a managed supertype sees an item only when its sender registered that type`() throws {
        let names = NamingProfile.intuneCompatible
        let rule = try ActivationRule(
            "SUBQUERY(extensionItems, $i, SUBQUERY($i.attachments, $a, ANY $a.registeredTypeIdentifiers UTI-CONFORMS-TO "
                + "\"public.image\").@count == 1).@count == 1"
        ).addingManagedTypes(names)
        let managed = { names.managedTypePrefix + $0 }
        func sees(_ types: [String]) throws -> Bool { try rule.accepts([SharedItem(attachments: [types])]) }
        #expect(try sees(["public.jpeg"]), "the system knows that a JPEG is an image")
        #expect(try !sees([managed("public.jpeg")]), "of a managed type it knows nothing")
        #expect(try sees([managed("public.jpeg"), managed("public.image")]))
    }

    @Test(.seeded(as: 5)) func `damaged rules never trap`() {
        var random = SeededGenerator()
        for _ in 0..<400 {
            var text = Array(Self.rule(&random))
            for _ in 0..<3 {
                let place = Int.random(in: 0..<text.count, using: &random)
                if Bool.random(using: &random) {
                    text.remove(at: place)
                } else {
                    text[place] = "({\"'$@.!".randomElement(using: &random) ?? "("
                }
            }
            _ = try? ActivationRule(String(text))
        }
    }
}
