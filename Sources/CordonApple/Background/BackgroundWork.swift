#if canImport(BackgroundTasks) && canImport(UIKit)
    internal import BackgroundTasks
    internal import Cordon
    internal import CordonScreens
    public import Foundation

    /// Runs check-ins, wipes and receipts in the system's background tasks while the app is not in front.
    ///
    /// List the identifier under `BGTaskSchedulerPermittedIdentifiers` in the Info.plist, and register before the app has finished launching. The
    /// system decides when a task runs; without one, a wipe is carried out at the next start.
    public struct BackgroundWork: Sendable {
        private let identifier: String
        private let perform: @Sendable () async -> Date

        /// Registers an identifier.
        ///
        /// - Parameters:
        ///   - identifier: The permitted identifier.
        ///   - perform: Does what is due and says when something is due next: ``AppProtection/performDueWork()``.
        /// - Returns: Nil where the identifier is not permitted, or was registered before.
        public init?(_ identifier: String, performing perform: @escaping @Sendable () async -> Date) {
            self.identifier = identifier
            self.perform = perform
            let work = self
            let isRegistered = BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: nil) { task in
                work.run(task)
            }
            guard isRegistered else { return nil }
        }

        /// Asks the system for a time not before a date; another date takes the place of the one before.
        ///
        /// - Throws: What the scheduler says, such as that background refresh is switched off.
        public func schedule(notBefore date: Date) throws {
            let request = BGAppRefreshTaskRequest(identifier: identifier)
            request.earliestBeginDate = date
            try BGTaskScheduler.shared.submit(request)
        }

        private func run(_ task: BGTask) {
            let end = TaskEnd(task)
            let working = Task {
                let next = await perform()
                // Without another time the app is asked again when it is opened.
                try? schedule(notBefore: next)
                end.report(true)
            }
            task.expirationHandler = {
                // In this order: work that is cancelled ends at once, and would report that it was done.
                end.report(false)
                working.cancel()
            }
        }
    }

    /// Reports the end of a task to the system, once.
    private final class TaskEnd: Sendable {
        private let isReported = FirstCall()
        // The system lets any thread report the end, and `isReported` lets one do it.
        nonisolated(unsafe) private let task: BGTask

        init(_ task: BGTask) { self.task = task }

        func report(_ succeeded: Bool) {
            if isReported.isMine() { task.setTaskCompleted(success: succeeded) }
        }
    }
#endif
