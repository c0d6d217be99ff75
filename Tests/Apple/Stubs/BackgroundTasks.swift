// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Dispatch
public import Foundation

open class BGTask: NSObject {
    public let identifier: String
    open var expirationHandler: (() -> Void)?
    public private(set) var stubEnd: Bool?
    init(_ identifier: String) { self.identifier = identifier }
    open func setTaskCompleted(success: Bool) { stubEnd = success }
}
public final class BGAppRefreshTask: BGTask {}
public final class BGProcessingTask: BGTask {}

open class BGTaskRequest: NSObject {
    public let identifier: String
    open var earliestBeginDate: Date?
    init(_ identifier: String) { self.identifier = identifier }
}
public final class BGAppRefreshTaskRequest: BGTaskRequest {
    public init(identifier: String) { super.init(identifier) }
}
public final class BGProcessingTaskRequest: BGTaskRequest {
    public var requiresNetworkConnectivity = false
    public var requiresExternalPower = false
    public init(identifier: String) { super.init(identifier) }
}

open class BGTaskScheduler: NSObject, @unchecked Sendable {
    public static let shared = BGTaskScheduler()
    private var handlers: [String: (BGTask) -> Void] = [:]
    public private(set) var stubRequests: [BGTaskRequest] = []

    open func register(
        forTaskWithIdentifier identifier: String, using queue: DispatchQueue?,
        launchHandler: @escaping (BGTask) -> Void
    ) -> Bool {
        guard handlers[identifier] == nil else { return false }
        handlers[identifier] = launchHandler
        return true
    }
    open func submit(_ taskRequest: BGTaskRequest) throws { stubRequests.append(taskRequest) }
    open func cancel(taskRequestWithIdentifier identifier: String) {
        stubRequests.removeAll { $0.identifier == identifier }
    }
    public func stubRun(_ identifier: String) -> BGTask {
        let task = BGAppRefreshTask(identifier)
        handlers[identifier]?(task)
        return task
    }
}
