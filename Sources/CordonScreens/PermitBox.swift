public import Cordon

/// Holds a permit where a noncopyable value cannot be stored: in a button's action, a completion handler, a property of a view. You can take it
/// out once, and it lapses in the box like any permit, also when the app leaves the front.
///
/// ```swift
/// let box = PermitBox(try protection.permit(for: .print(of: owner)))
/// Button("Print") { Task { try await print(document, with: box) } }
/// ```
public final class PermitBox: Sendable {
    /// What the permit allows.
    public let question: Question
    /// What was answered; show the reasons of a warning before you use the permit.
    public let decision: PolicyDecision
    private let taking = FirstCall()
    // Read and emptied by the one caller that `taking` lets through.
    nonisolated(unsafe) private var permit: EgressPermit?

    /// Puts a permit into a box.
    public init(_ permit: consuming EgressPermit) {
        question = permit.question
        decision = permit.decision
        self.permit = consume permit
    }

    /// Takes the permit out.
    ///
    /// - Throws: ``ProtectionError`` with code `noPermit` when it was taken before.
    public func take() throws(ProtectionError) -> EgressPermit {
        guard taking.isMine(), let permit = permit.take() else {
            throw ProtectionError(.noPermit, "the permit was used before")
        }
        return permit
    }
}
