import CordonVault
import Testing

struct FileProtectionLevelTests {
    @Test func `the lower of policy and cap holds, for every pair`() {
        let order: [FileProtectionLevel] = [
            .none, .completeUntilFirstUserAuthentication, .completeUnlessOpen, .complete,
        ]
        #expect(FileProtectionLevel.allCases == order)
        for (first, policy) in order.enumerated() {
            for (second, cap) in order.enumerated() {
                #expect(FileProtectionLevel.effective(policy: policy, cap: cap) == order[min(first, second)])
            }
        }
    }

    @Test func `the names are those of the app's settings`() {
        #expect(FileProtectionLevel(rawValue: "NSFileProtectionComplete") == .complete)
        #expect(FileProtectionLevel(rawValue: "NSFileProtectionCompleteUnlessOpen") == .completeUnlessOpen)
        #expect(FileProtectionLevel(rawValue: "something else") == nil)
    }
}
