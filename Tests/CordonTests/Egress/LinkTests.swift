import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Testing

/// SDK-DT-26, SDK-PO-02, SRV-RS-032: a link opens where the rules let it, and at the address that they put in its place.
@Suite struct LinkTests {
    private actor System: LinkOpener {
        struct Failed: Error {}
        private(set) var opened: [String] = []
        private let fails: Bool
        init(fails: Bool = false) { self.fails = fails }
        func open(_ address: URL) throws {
            if fails { throw Failed() }
            opened.append(address.absoluteString)
        }
    }

    private static let browser: [String: JSONValue] = ["managedBrowserToOpenLinksRequired": .bool(true)]
    private let ada = Identity.managed("oid-a")

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    /// What opens for a link under rules; nil for a denial with reasons.
    private func opened(
        _ link: String, _ rules: [String: JSONValue], configuration: [String: JSONValue] = [:],
        of owner: Identity? = nil,
        by app: Peer? = nil, isUniversal: Bool = false
    ) async throws -> String? {
        let device = try Device()
        await device.service.set { $0.change = { $0.configurations = [.object(configuration)] } }
        let protection = try await device.enrolled(rules)
        let (system, owner, link) = (System(), owner ?? ada, try url(link))
        do throws(ProtectionError) {
            let permit = try protection.outlets.linkPermit(for: link, of: owner, by: app, isUniversal: isUniversal)
            do {
                let address = try await protection.outlets.openLink(link, of: owner, with: system, permit: permit)
                #expect(await system.opened == [address.absoluteString])
                return address.absoluteString
            } catch {
                Issue.record("\(error)")
                return nil
            }
        } catch {
            let denial = try #require(error.denial)
            #expect(!denial.verdict.permits && denial.reasons.allSatisfy { !$0.remedy.isEmpty })
            #expect(await system.opened.isEmpty)
            return nil
        }
    }

    @Test func `a link opens as it is where the rules say nothing of it, and for personal work`() async throws {
        for link in ["https://example.com/a?b=c#d", "tel:100", "mailto:ada@example.test"] {
            #expect(try await opened(link, [:]) == link)
            #expect(try await opened(link, Self.browser, of: .personal) == link)
        }
    }

    @Test(arguments: [
        ("http://example.com/a", "mybrowser", "mybrowser://example.com/a"),
        ("HTTPS://example.com:8443/a?b=c#d", "mybrowser", "mybrowsers://example.com:8443/a?b=c#d"),
        ("https://example.com", "MyBrowser://", "mybrowsers://example.com"),
        ("https://example.com", "my.browser-2:", "my.browser-2s://example.com"),
    ])
    func `a web link goes to the browser that the rules name, whatever the spelling of its scheme`(
        link: String, scheme: String, address: String
    ) async throws {
        let rules = Self.browser.merging(["customBrowserProtocol": .string(scheme)]) { $1 }
        #expect(try await opened(link, rules) == address)
    }

    @Test func `the managed browser is the deployment's own, else Edge`() async throws {
        let rules = Self.browser.merging(["managedBrowser": .string("microsoftEdge")]) { $1 }
        #expect(try await opened("https://example.com", rules) == "microsoft-edge-https://example.com")
        let own: [String: JSONValue] = [AppConfiguration.managedBrowserKey: .string("workweb")]
        #expect(try await opened("https://example.com", rules, configuration: own) == "workwebs://example.com")
        #expect(try await opened("http://example.com", Self.browser, configuration: own) == "workweb://example.com")
    }

    @Test func `a browser that is not named, or is named as none, is a denial that says so`() async throws {
        for scheme in ["", "://", "https", "no scheme", "a:b"] {
            let rules = Self.browser.merging(["customBrowserProtocol": .string(scheme)]) { $1 }
            #expect(try await opened("https://example.com", rules) == nil, "\(scheme)")
        }
        let device = try Device()
        let protection = try await device.enrolled(Self.browser)
        let link = try url("https://example.com")
        do {
            _ = try protection.outlets.linkPermit(for: link, of: ada)
            Issue.record("a permit was issued")
        } catch {
            #expect(error.denial?.verdict == .block)
            #expect(error.denial?.reasons.map(\.setting) == ["managedBrowserToOpenLinksRequired"])
            #expect(error.denial?.summary.contains("scheme") == true)
        }
    }

    @Test func `numbers and messages go to the one app that the rules name`() async throws {
        let rules: [String: JSONValue] = [
            "dialerRestrictionLevel": .string("customApp"), "customDialerAppProtocol": .string("workphone"),
            "protectedMessagingRedirectAppType": .string("specificApps"),
            "messagingRedirectAppUrlScheme": .string("workchat"),
        ]
        #expect(try await opened("tel:+1-100", rules) == "workphone:+1-100")
        #expect(try await opened("sms:100", rules) == "workchat:100")
        let nameless: [String: JSONValue] = ["dialerRestrictionLevel": .string("managedApps")]
        #expect(try await opened("tel:100", nameless) == nil)
        #expect(try await opened("tel:100", nameless, by: .managed("oid-a")) == "tel:100")
    }

    @Test func `what the rules block is denied, also as a universal link`() async throws {
        let managedOnly: [String: JSONValue] = ["allowedOutboundDataTransferDestinations": .string("managedApps")]
        #expect(try await opened("unlisted-app:open", managedOnly) == nil)
        #expect(try await opened("unlisted-app:open", managedOnly, by: .managed("oid-a")) == "unlisted-app:open")
        let link = "https://other.example/page"
        #expect(try await opened(link, managedOnly, isUniversal: true) == nil)
        #expect(try await opened(link, managedOnly, by: .managed("oid-a"), isUniversal: true) == link)
        let redirected = Self.browser.merging(["customBrowserProtocol": .string("mybrowser")]) { $1 }
        #expect(try await opened(link, redirected, isUniversal: true) == "mybrowsers://other.example/page")
    }

    @Test func `a permit for one link opens no other, and none of another action opens any`() async throws {
        let device = try Device()
        let protection = try await device.enrolled([:])
        let (one, other, system) = (try url("https://one.example"), try url("https://other.example"), System())
        func refusal(_ link: URL, _ permit: consuming EgressPermit) async -> ProtectionError.Code? {
            do throws(ProtectionError) {
                try await protection.outlets.openLink(link, of: ada, with: system, permit: permit)
                return nil
            } catch { return error.code }
        }
        #expect(await refusal(other, try protection.outlets.linkPermit(for: one, of: ada)) == .noPermit)
        #expect(await refusal(one, try protection.outlets.linkPermit(for: one, of: .personal)) == .noPermit)
        let print = try protection.permit(for: Question(.print, owner: .managed("oid-a")))
        #expect(await refusal(one, print) == .noPermit)
        let old = try protection.outlets.linkPermit(for: one, of: ada)
        await protection.checkIn("oid-a")
        #expect(await refusal(one, old) == .permitOutdated)
        #expect(await system.opened.isEmpty)
        let failing = System(fails: true)
        let permit = try protection.outlets.linkPermit(for: one, of: ada)
        do throws(ProtectionError) {
            try await protection.outlets.openLink(one, of: ada, with: failing, permit: permit)
            Issue.record("it was opened")
        } catch { #expect(error.code == .outletFailed) }
    }
}
