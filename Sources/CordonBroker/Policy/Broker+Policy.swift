internal import CordonIdentity
internal import CordonSignIn

extension Broker {
    /// Whether the device may be run by these rules: not older than the newest it has seen, meant for it, and signed
    /// wherever it has once been run by signed ones (SI-199).
    static func check(
        _ policy: BrokerConfiguration.PolicyStamp?, for state: BrokerState, place: String
    ) throws(BrokerError) {
        guard let policy else {
            guard state.policyVersion == nil else {
                throw SignedDevicePolicy.refusal("this device takes its rules from a signed policy only", place: place)
            }
            return
        }
        guard policy.version >= state.policyVersion ?? 0 else {
            throw SignedDevicePolicy.refusal("the policy is older than the newest one seen here", place: place)
        }
        guard let facts = state.registration?.facts else {
            guard policy.device == nil else {
                throw SignedDevicePolicy.refusal("the policy is for a device that has joined", place: place)
            }
            return
        }
        guard policy.tenant == facts.tenant, policy.device.map({ $0 == facts.deviceID }) ?? true else {
            throw SignedDevicePolicy.refusal("the policy is for another device", place: place)
        }
    }

    /// Refuses to join another organisation than the policy's.
    func checkPolicy(allows tenant: TenantID) throws(SignInError) {
        guard configuration.policy.map({ $0.tenant == tenant }) ?? true else {
            throw SignInError(
                .brokerRefused, .brokerDenied, "the device's policy is for another organisation",
                hint: "Install the policy of the administrator's organisation.")
        }
    }
}
