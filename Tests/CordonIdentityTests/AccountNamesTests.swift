import CordonIdentity
import Testing

/// Row SDK-ID-02: the two names of one account are equal once the app has said so.
@Suite struct AccountNamesTests {
    private let account = ManagedAccount(
        id: "OID-Ada", tenant: TenantID("t"), userPrincipalName: "Ada@Contoso.Example")

    @Test func `a sign-in name and an object id are one account once both are known, and two before`() {
        var names = AccountNames()
        #expect(!names.areSame("ada@contoso.example", "oid-ada"))
        names.learn(account)
        #expect(names.areSame("ada@contoso.example", "oid-ada"))
        #expect(names.areSame("oid-ada", "ADA@contoso.example"))
        #expect(names.canonical("ada@contoso.example") == "oid-ada")
        #expect(!names.areSame("ada@contoso.example", "oid-other"))
    }

    @Test func `a sign-in name that passes to another account names the later one`() {
        var names = AccountNames()
        names.learn(account)
        names.learn(ManagedAccount(id: "oid-new", tenant: TenantID("t"), userPrincipalName: "ada@contoso.example"))
        #expect(names.areSame("ada@contoso.example", "oid-new"))
        #expect(!names.areSame("ada@contoso.example", "oid-ada"))
    }

    @Test func `an object id names its own account, whoever has it for a sign-in name`() {
        let other = ManagedAccount(id: "oid-other", tenant: TenantID("t"), userPrincipalName: "OID-ada")
        for order in [[account, other], [other, account]] {
            var names = AccountNames()
            for account in order { names.learn(account) }
            #expect(names.canonical("oid-ada") == "oid-ada" && names.canonical("ada@contoso.example") == "oid-ada")
            #expect(!names.areSame("oid-ada", "oid-other"))
        }
    }

    @Test(arguments: [false, true])
    func `scopes that were opened under an object id before its account was known do not keep it for another one`(
        byBothNames: Bool
    ) {
        let (id, name) = (AccountID("oid-taken-\(byBothNames)"), "taken-\(byBothNames)@contoso.example")
        IdentityContext.learn(ManagedAccount(id: "oid-taker", tenant: TenantID("t"), userPrincipalName: id.rawValue))
        IdentityContext.with(.managed(id)) { #expect(IdentityContext.current == .managed("oid-taker")) }
        if byBothNames { IdentityContext.with(.managed(AccountID(name))) {} }
        IdentityContext.learn(ManagedAccount(id: id, tenant: TenantID("t"), userPrincipalName: name))
        for known in [id, AccountID(name)] {
            IdentityContext.with(.managed(known)) { #expect(IdentityContext.current == .managed(id)) }
        }
    }

    @Test(arguments: ["", "oid-a"])
    func `an object id names its own account also where that has no sign-in name of its own`(name: String) {
        let nameless = ManagedAccount(id: "oid-a", tenant: TenantID("t"), userPrincipalName: name)
        let taker = ManagedAccount(id: "oid-taker", tenant: TenantID("t"), userPrincipalName: "oid-a")
        for order in [[nameless, taker], [taker, nameless]] {
            var names = AccountNames()
            for account in order { names.learn(account) }
            #expect(names.canonical("oid-a") == "oid-a" && !names.areSame("oid-a", "oid-taker"))
        }
    }

    @Test func `an empty sign-in name names nobody`() {
        var names = AccountNames()
        let nameless = ManagedAccount(id: "oid-a", tenant: TenantID("t"), userPrincipalName: "")
        names.learn(nameless)
        #expect(names.canonical("") == "" && !names.areSame("", "oid-a"))
        // Nor does it take over scopes of the id that names no account.
        IdentityContext.with(.managed("")) {}
        IdentityContext.learn(nameless)
        IdentityContext.with(.managed("")) { #expect(IdentityContext.current == .managed("")) }
    }

    @Test func `a scope opened by a sign-in name reads as the account, and an open one keeps its name`() {
        let first = ManagedAccount(id: "oid-scope", tenant: TenantID("t"), userPrincipalName: "scope@contoso.example")
        IdentityContext.with(.managed("scope@contoso.example")) {
            IdentityContext.learn(first)
            #expect(IdentityContext.current == .managed("scope@contoso.example"))
            IdentityContext.with(.managed("Scope@contoso.example")) {
                #expect(IdentityContext.current == .managed("oid-scope"))
            }
        }
        #expect(IdentityContext.areSame(.managed("scope@contoso.example"), .managed("OID-scope")))
        #expect(!IdentityContext.areSame(.managed("scope@contoso.example"), .personal))
    }

    @Test func `optional text reads as not set, as no account, or as an account`() {
        #expect(Identity(accountID: nil) == nil)
        #expect(Identity(accountID: "") == .personal)
        #expect(Identity(accountID: "oid-a") == .managed("OID-A"))
        #expect(Identity.managed("") != .personal)
    }
}
