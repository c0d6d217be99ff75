import CordonIdentity
import CordonPolicy
import Testing

@Suite struct AccountLookUpTests {
    @Test func `every account is found in any letter case, and no other`() {
        var policies: [AccountID: EffectivePolicy] = [:]
        let names =
            (0..<2000).map { "worker-\($0)@contoso.example" } + [
                "", "a", "Müller@example.test", "kelvin", "a`b", "a@b",
            ]
        for (index, name) in names.enumerated() {
            var policy = AppProtectionPolicy(id: "p\(index)")
            policy.transfer.printBlocked = index.isMultiple(of: 2)
            policies[AccountID(name)] = EffectivePolicy(policy)
        }
        let set = PolicySet(policies)
        for (index, name) in names.enumerated() {
            for spelling in [name, name.uppercased()] {
                #expect(set.policy(of: .managed(AccountID(spelling)))?.policy.id == "p\(index)", "\(spelling)")
            }
            #expect(set.policy(of: .managed(AccountID(name + "x"))) == nil)
        }
        #expect(
            set.policy(of: .managed("\u{212A}elvin"))?.policy.id == "p2003", "an equal id beyond ASCII is found too")
        #expect(set.accounts.count == names.count)
        #expect(PolicySet().policy(of: .managed("a")) == nil)
    }
}
