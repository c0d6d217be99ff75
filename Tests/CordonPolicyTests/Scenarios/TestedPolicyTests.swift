import CordonIdentity
import CordonPolicy
import CordonTesting
import Testing

@Suite struct TestedPolicyTests {
    @Test func `a developer reads the answer and why`() throws {
        let workAccount: AccountID = "ada@example.test"
        let policy = try TestedPolicy(
            json: #"{"id": "T_1", "version": "4", "allowedOutboundClipboardSharingLevel": "managedApps"}"#,
            of: workAccount)
        #expect(policy.allows(.copy, from: .managed(workAccount), to: .managed(workAccount)))
        #expect(!policy.allows(.copy, from: .managed(workAccount), to: .personal))
        #expect(policy.description.contains("clipboard.copy: allowedOutboundClipboardSharingLevel"))
        #expect(policy.description.contains("policy T_1 version 4"))
    }

    @Test func `a failing expectation explains itself`() throws {
        let workAccount: AccountID = "ada@example.test"
        let policy = try TestedPolicy(
            json: #"{"id": "T_1", "version": "4", "allowedOutboundClipboardSharingLevel": "managedApps"}"#,
            of: workAccount)
        withKnownIssue {
            #expect(policy.allows(.copy, from: .managed(workAccount), to: .personal))
        } matching: { issue in
            "\(issue)".contains("clipboard.copy")
        }
    }
}
