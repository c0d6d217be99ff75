/// A way by which work reaches another thread.
public enum DispatchPath: String, Sendable, Hashable, CaseIterable, Codable {
    /// `DispatchQueue.async`.
    case async
    /// `DispatchQueue.sync`.
    case sync
    /// `DispatchQueue.async` with the barrier flag.
    case barrier
    /// `DispatchQueue.asyncAfter`.
    case after
    /// `DispatchQueue.async(group:)`.
    case group
    /// `DispatchGroup.notify`.
    case groupNotification
    /// `DispatchQueue.concurrentPerform`.
    case concurrentPerform
    /// `DispatchWorkItem`, which carries the identity of its maker.
    case workItem
    /// `DispatchWorkItem.notify`.
    case workItemNotification
    /// The handlers of a `DispatchSource`.
    case source
    /// `OperationQueue`, at the moment of adding.
    case operation
}

/// What the self-test found.
public struct DispatchReport: Sendable, Equatable, Codable {
    /// The ways by which the identity followed, and was put back afterwards.
    public let followed: Set<DispatchPath>

    /// Whether the identity follows by every way; where it does not, the work reads as lost and is denied managed data.
    public var isComplete: Bool { notFollowed.isEmpty }

    /// The ways by which it does not follow, in order of declaration.
    public var notFollowed: [DispatchPath] { DispatchPath.allCases.filter { !followed.contains($0) } }
}
