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
        // Scopes that were opened before anybody was known by that id do not keep it for the other account.
        IdentityContext.learn(
            ManagedAccount(id: "oid-taker", tenant: TenantID("t"), userPrincipalName: "oid-taken"))
        IdentityContext.with(.managed("oid-taken")) { #expect(IdentityContext.current == .managed("oid-taker")) }
        IdentityContext.learn(
            ManagedAccount(id: "oid-taken", tenant: TenantID("t"), userPrincipalName: "taken@contoso.example"))
        IdentityContext.with(.managed("oid-taken")) { #expect(IdentityContext.current == .managed("oid-taken")) }
    }

    @Test func `an account without a sign-in name teaches nothing`() {
        var names = AccountNames()
        let nameless = ManagedAccount(id: "oid-a", tenant: TenantID("t"), userPrincipalName: "")
        names.learn(nameless)
        #expect(names == AccountNames())
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
