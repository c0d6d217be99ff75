import CordonBase
import CordonSignatures
import Crypto
import CryptoExtras
import Foundation
import Testing

/// Every hostile text through every profile: what one reader refuses, none of its uses accepts.
@Suite struct HostileTextTests {
    /// A profile with a good header for it.
    struct Use: Sendable, CustomTestStringConvertible {
        let profile: SignatureProfile
        let typ: String?
        var testDescription: String { profile.use }
    }

    static let uses = [
        Use(profile: .message("cordon-policy+jwt"), typ: "cordon-policy+jwt"),
        Use(profile: .introduction("cordon-keys+jwt"), typ: "cordon-keys+jwt"),
        Use(profile: .proof, typ: "dpop+jwt"), Use(profile: .accessToken, typ: "at+jwt"),
        Use(profile: .securityEvent, typ: "secevent+jwt"), Use(profile: .idToken, typ: "JWT"),
        Use(profile: .clientAssertion, typ: "JWT"), Use(profile: .ownToken("at+jwt"), typ: "at+jwt"),
    ]

    private static let key = P256.Signing.PrivateKey()
    private static let published = P256PublicKey(key.publicKey, id: "k")
    private static let jwk =
        #"{"kty":"EC","crv":"P-256","x":"\#(Base64URL.encode(published.x))","y":"\#(Base64URL.encode(published.y))"}"#

    /// The members of a good header, as JSON by name.
    private static func header(_ use: Use) -> [String: String] {
        var members = ["alg": #""ES256""#]
        members["typ"] = use.typ.map { #""\#($0)""# }
        if use.profile.key == .embedded { members["jwk"] = jwk } else { members["kid"] = #""k""# }
        return members
    }

    private static func text(_ members: [String: String], more: String = "", payload: String = "{}") throws -> String {
        let header = "{" + members.map { #""\#($0)":\#($1)"# }.joined(separator: ",") + more + "}"
        return try SignedText.make(header: Data(header.utf8), payload: Data(payload.utf8)) {
            try key.signature(for: $0).rawRepresentation
        }
    }

    private static func flaw(_ text: String, _ use: Use) -> TextFlaw.Kind? {
        do throws(TextFlaw) {
            let signed = try SignedText(text, use.profile)
            return signed.isSigned(by: signed.embeddedKey?.verification ?? published.verification) ? nil : .signature
        } catch { return error.kind }
    }

    @Test(arguments: uses) func `a good text is accepted`(use: Use) throws {
        let text = try Self.text(Self.header(use))
        #expect(Self.flaw(text, use) == nil)
        #expect(try SignedText(text, use.profile).payload == Data("{}".utf8))
    }

    @Test(arguments: uses)
    func `no algorithm but the profile's is accepted, and never none or a shared secret`(use: Use) throws {
        var algorithms = ["none", "None", "NONE", "", "HS256", "HS512", "es256", "ES256K", "RSA1_5", "RS1"]
        algorithms += SignatureAlgorithm.allCases.filter { !use.profile.algorithms.contains($0) }.map(\.rawValue)
        for algorithm in algorithms {
            var header = Self.header(use)
            header["alg"] = #""\#(algorithm)""#
            #expect(Self.flaw(try Self.text(header), use) == .algorithm, "\(algorithm)")
            let unsigned = try Self.text(header).split(separator: ".").prefix(2).joined(separator: ".") + "."
            #expect(Self.flaw(unsigned, use) == .algorithm, "\(algorithm) without a signature")
        }
        for algorithm in ["null", "5", "[\"ES256\"]"] {
            var header = Self.header(use)
            header["alg"] = algorithm
            #expect(Self.flaw(try Self.text(header), use) == .malformed, "\(algorithm)")
        }
        var header = Self.header(use)
        header["alg"] = nil
        #expect(Self.flaw(try Self.text(header), use) == .malformed)
    }

    @Test(arguments: uses)
    func `another algorithm of the profile than the key's does not verify`(use: Use) throws {
        for algorithm in use.profile.algorithms where algorithm != .es256 {
            var header = Self.header(use)
            header["alg"] = #""\#(algorithm.rawValue)""#
            #expect(Self.flaw(try Self.text(header), use) == .signature, "\(algorithm)")
        }
    }

    @Test(arguments: uses) func `the type of another use is refused, unless any is accepted`(use: Use) throws {
        for other in Self.uses.compactMap(\.typ) + ["", "application/dpop+jwt+more", "AT+JWT", "DPOP+JWT"] {
            var header = Self.header(use)
            header["typ"] = #""\#(other)""#
            let isAccepted =
                switch use.profile.types {
                case .exactly(let name): other == name
                case .media(let name): other.lowercased() == name
                case .optional(let names): names.contains(other.lowercased())
                case .anyBut(let names): !names.contains(other.lowercased())
                case .callers: true
                }
            #expect(Self.flaw(try Self.text(header), use) == (isAccepted ? nil : .type), "\(other)")
        }
        var header = Self.header(use)
        header["typ"] = nil
        let isOptional =
            switch use.profile.types {
            case .optional, .anyBut, .callers: true
            case .exactly, .media: false
            }
        #expect(Self.flaw(try Self.text(header), use) == (isOptional ? nil : .type))
    }

    @Test(arguments: uses) func `a text names its key as its profile asks`(use: Use) throws {
        var header = Self.header(use)
        header["kid"] = nil
        header["jwk"] = nil
        #expect(Self.flaw(try Self.text(header), use) == (use.profile.key == .namedOrOnly ? nil : .key))
        header["kid"] = "5"
        #expect(Self.flaw(try Self.text(header), use) == .malformed)
        header["kid"] = #""k""#
        header["jwk"] = Self.jwk
        #expect(Self.flaw(try Self.text(header), use) == (use.profile.key == .trusted ? .key : nil))
    }

    @Test(arguments: uses) func `every critical extension is refused`(use: Use) throws {
        for extensions in [#"["b64"]"#, #"["exp"]"#, "[]", "{}", #""x""#, "true"] {
            var header = Self.header(use)
            header["crit"] = extensions
            #expect(Self.flaw(try Self.text(header), use) == .critical, "\(extensions)")
        }
    }

    @Test(arguments: uses) func `a text above the profile's size is refused before it is read`(use: Use) throws {
        let good = try Self.text(Self.header(use))
        let fill = String(repeating: "A", count: use.profile.largest + 1 - good.utf8.count)
        #expect(Self.flaw(good + fill, use) == .tooLarge)
        #expect(Self.flaw(String(repeating: ".", count: use.profile.largest + 1), use) == .tooLarge)
    }

    @Test(arguments: uses) func `what is not three canonical parts is refused`(use: Use) throws {
        let good = try Self.text(Self.header(use))
        let parts = good.split(separator: ".").map(String.init)
        let hostile = [
            "", ".", "..", "...", "a", parts[0], parts[0] + "." + parts[1], good + ".", "." + good, good + ".AAAA",
            parts[0] + "=." + parts[1] + "." + parts[2], parts[0] + "." + parts[1] + "=." + parts[2], good + "=",
            good + "==", " " + good, good + "\n", parts[0] + ".." + parts[2], "é.é.é",
            parts[0] + "." + parts[1] + "." + parts[2].dropLast() + "_",
            good.replacing(".", with: ".\u{301}"), "." + parts[1] + "." + parts[2],
        ]
        for text in hostile {
            let flaw = Self.flaw(text, use)
            #expect(flaw == .malformed || flaw == .signature, "\(text.prefix(40))")
        }
    }

    @Test(arguments: uses) func `a header that gives a member twice is refused, whichever comes first`(use: Use) throws
    {
        for more in [
            #","alg":"ES256""#, #","alg":"none""#, #","\u0061lg":"ES256""#, #","x":1,"x":1"#, #","x":{"a":1,"a":1}"#,
        ] {
            #expect(Self.flaw(try Self.text(Self.header(use), more: more), use) == .malformed, "\(more)")
        }
    }

    @Test(arguments: uses) func `a header that is no strict JSON object is refused`(use: Use) throws {
        for header in [
            "", "[]", "null", "{}x", "{\"alg\":\"ES256\",}", "{'alg':'ES256'}", String(repeating: "[", count: 200),
        ] {
            let text = try SignedText.make(header: Data(header.utf8), payload: Data("{}".utf8)) {
                try Self.key.signature(for: $0).rawRepresentation
            }
            #expect(Self.flaw(text, use) == .malformed, "\(header.prefix(20))")
        }
    }

    @Test(arguments: uses) func `a changed character anywhere is refused`(use: Use) throws {
        let text = try Self.text(Self.header(use))
        for index in text.indices {
            var changed = text
            changed.replaceSubrange(index...index, with: text[index] == "A" ? "B" : "A")
            #expect(Self.flaw(changed, use) != nil, "character \(text.distance(from: text.startIndex, to: index))")
        }
    }

    @Test(arguments: [
        #"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#, #"{"kty":"EC","crv":"P-384","x":"AA","y":"AA"}"#, "{}", "5", #""k""#,
        #"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#, #"{"kty":"oct","k":"AAAA"}"#, "[]",
    ])
    func `a text that must bring its key brings a P-256 key`(jwk: String) throws {
        for use in Self.uses where use.profile.key == .embedded {
            var header = Self.header(use)
            header["jwk"] = jwk
            #expect(Self.flaw(try Self.text(header), use) == .malformed)
            header["jwk"] = Self.jwk.dropLast() + #","d":"AAAA"}"#
            #expect(Self.flaw(try Self.text(header), use) == .malformed, "with its private half")
            header["jwk"] = Self.jwk.dropLast() + #","x":"AAAA"}"#
            #expect(Self.flaw(try Self.text(header), use) == .malformed, "with a coordinate twice")
        }
    }

    @Test func `the document lists every profile as it is`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let document = try String(contentsOf: root.appending(path: "docs/signed-texts.md"), encoding: .utf8)
        for use in Self.uses {
            let profile = use.profile
            let types =
                if case .exactly(let name) = profile.types, name != "dpop+jwt", name != "at+jwt" {
                    "the message's own, letter for letter"
                } else {
                    profile.typeNames
                }
            let algorithms = profile.algorithms.map(\.rawValue).joined(separator: ", ")
            let row =
                "| \(profile.use) | \(types) | \(algorithms) | \(profile.key.rawValue) | \(profile.largest >> 10) KiB | refused |"
            #expect(document.contains(row), "docs/signed-texts.md lacks: \(row)")
        }
    }
}
