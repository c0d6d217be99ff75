import CordonBase
import CordonConsole
import CordonTestSupport
import Foundation
import HTTPTypes
import Testing

/// The attacks of RFC 9700 that an attacker carries out between browser, provider and console; each starts no session.
struct SignInAttackTests {
    @Test(arguments: ["https://id.evil.example", nil])
    func `an answer that does not name the provider that was asked starts no session`(issuer: String?) async throws {
        let fixture = try await ConsoleFixture()
        fixture.provider.tampering.withLock {
            $0 = { _, answer in
                var changed = answer
                changed["iss"] = issuer
                return changed
            }
        }
        try await fixture.test { browser in
            let page = try await browser.signIn(ConsoleFixture.ada)
            #expect(page.status == .badGateway)
            #expect(page.text.contains("The answer comes from another identity provider."))
            #expect(browser.jar["cordon-console"] == nil)
            #expect(fixture.provider.exchanges.withLock(\.isEmpty), "the code was not sent on")
        }
    }

    @Test func `a code from another browser's sign-in starts no session`() async throws {
        let fixture = try await ConsoleFixture()
        let stolen = Locked<String?>(nil)
        try await fixture.test { victim in
            fixture.provider.tampering.withLock {
                $0 = { _, answer in
                    stolen.withLock { $0 = answer["code"] }
                    return ["state": answer["state"] ?? "", "iss": answer["iss"] ?? "", "error": "access_denied"]
                }
            }
            try await victim.signIn(ConsoleFixture.ada)
            let code = try #require(stolen.withLock { $0 })
            fixture.provider.tampering.withLock { $0 = { _, answer in answer.merging(["code": code]) { $1 } } }
            let attacker = Browser(client: victim.client, fixture: fixture)
            let page = try await attacker.signIn(ConsoleFixture.hedy)
            #expect(page.status == .badGateway && page.text.contains("gave no token"))
            #expect(attacker.jar["cordon-console"] == nil)
            let sent = try #require(fixture.provider.exchanges.withLock(\.last))
            #expect(sent["code"] == code, "the control: the code was tried, and the verifier did not fit")
        }
    }

    @Test func `a sign-in takes one answer`() async throws {
        let fixture = try await ConsoleFixture()
        let kept = Locked<(cookie: String, address: String)?>(nil)
        try await fixture.test { browser in
            fixture.provider.tampering.withLock {
                $0 = { _, answer in
                    let query = FormEncoding.encode(answer.map { (key: $0.key, value: $0.value) })
                    kept.withLock {
                        $0 = (browser.jar["cordon-console-sign-in"] ?? "", "/console/signed-in?" + query)
                    }
                    return answer
                }
            }
            #expect(try await browser.signIn(ConsoleFixture.ada).status == .ok)
            let answer = try #require(kept.withLock { $0 })
            let other = Browser(client: browser.client, fixture: fixture)
            other.setCookie("cordon-console-sign-in", answer.cookie)
            let page = try await other.get(answer.address)
            #expect(page.status == .badRequest)
            #expect(page.text.contains("This sign-in is not known here any more."))
            #expect(other.jar["cordon-console"] == nil)
            #expect(fixture.provider.exchanges.withLock(\.count) == 1, "the provider is not asked a second time")
        }
    }

    @Test func `every sign-in has a state, a challenge and a key of its own, and no address holds a token`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        let seen = Locked<[[String: String]]>([])
        fixture.provider.tampering.withLock {
            $0 = { asked, answer in
                seen.withLock { $0 += [asked] }
                return answer
            }
        }
        try await fixture.test { browser in
            for person in [ConsoleFixture.ada, ConsoleFixture.ada, ConsoleFixture.hedy] {
                let page = try await Browser(client: browser.client, fixture: fixture).signIn(person)
                #expect(page.status == .ok)
                #expect(!page.path.contains("token") && !page.path.contains("code="))
            }
        }
        let asked = seen.withLock { $0 }
        #expect(asked.count == 3)
        for name in ["state", "code_challenge", "dpop_jkt"] {
            #expect(Set(asked.compactMap { $0[name] }).count == 3, "\(name) repeats")
        }
        #expect(asked.allSatisfy { $0["response_type"] == "code" && $0["code_challenge_method"] == "S256" })
        let verifiers = fixture.provider.exchanges.withLock { $0.compactMap { $0["code_verifier"] } }
        #expect(verifiers.count == 3)
        #expect(asked.allSatisfy { query in query.values.allSatisfy { !verifiers.contains($0) } })
    }
}
