/// What a signed text is, as its `typ` header member says, so that one kind never passes for another (RFC 8725 §3.11).
public enum MessageType: String, Sendable, CaseIterable {
    /// A policy envelope for one registration.
    case policyEnvelope = "cordon-policy+jwt"
    /// The service's word that it answered a check-in.
    case contactProof = "cordon-contact+jwt"
    /// The keys that sign envelopes for apps, signed by the root key.
    case keySet = "cordon-keys+jwt"
    /// The keys that have ever signed checkpoints of the audit log, signed by the root key; worth nothing to apps.
    case auditKeySet = "cordon-audit-keys+jwt"
    /// The root key's word that another key may sign key sets.
    case keyDelegation = "cordon-key-delegation+jwt"
    /// What a backup holds, signed by the service.
    case backup = "cordon-backup+jwt"
    /// A receipt of a selective wipe, signed by the device.
    case wipeReceipt = "cordon-wipe-receipt+jwt"
    /// A checkpoint of the audit log, signed by the service.
    case auditCheckpoint = "cordon-audit+jwt"
    /// A device's request to be registered, signed by the key it registers.
    case deviceRegistration = "cordon-device+jwt"
    /// The rules of a shared device, signed for its organisation.
    case devicePolicy = "cordon-device-policy+jwt"
    /// What a shared device says about who is on it, signed by its own key.
    case deviceSession = "cordon-device-session+jwt"
    /// A proof of possession for one HTTP request (RFC 9449).
    case proofOfPossession = "dpop+jwt"
}
