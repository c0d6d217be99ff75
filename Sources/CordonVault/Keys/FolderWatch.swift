internal import CordonAEADShim
internal import CordonBase
internal import Dispatch
internal import Foundation

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Tells when something changes among the names of a folder, whichever process does it: inotify on Linux, kqueue on Apple platforms.
/// Where the system has lost what happened, everything counts as changed. Costs nothing while nothing changes, and ends with its last reference.
final class FolderWatch {
    #if canImport(Darwin)
        private let source: any DispatchSourceProtocol

        /// Begins to watch; nil where the system has no means left for it.
        init?(_ folder: URL, _ changed: @escaping @Sendable () -> Void) {
            let descriptor = open(folder.path, O_EVTONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            source = DispatchSource.makeFileSystemObjectSource(
                fileDescriptor: descriptor, eventMask: [.write, .delete, .rename],
                queue: DispatchQueue(label: "cordon.vault.keys"))
            source.setEventHandler(handler: changed)
            source.setCancelHandler { close(descriptor) }
            source.resume()
        }

        /// Whether the folder can still be watched, as far as is known: here that is not told.
        var isLive: Bool { true }

        deinit { source.cancel() }
    #else
        private let number: Int32
        private let id: Int

        /// Begins to watch; nil where the system has no means left for it.
        init?(_ folder: URL, _ changed: @escaping @Sendable () -> Void) {
            guard let (number, id) = FolderWatches.shared.add(folder, changed) else { return nil }
            self.number = number
            self.id = id
        }

        /// Whether the folder is still watched: not once it was removed or moved, and another one may be in its place, nor after the system has lost
        /// events. Who is told looks here, and begins anew.
        var isLive: Bool { FolderWatches.shared.has(id) }

        deinit { FolderWatches.shared.remove(number, id) }
    #endif
}

#if !canImport(Darwin)
    /// The folders that this process watches: a user may have few instances of inotify, and many folders in each.
    private final class FolderWatches: Sendable {
        static let shared = FolderWatches()

        private struct State {
            /// A few, so that a list does.
            var watches: [Watched] = []
            var nextID = 0
            /// Negative until the system had one to give.
            var descriptor: Int32 = -1
        }

        private struct Watched {
            let number: Int32
            let id: Int
            let action: @Sendable () -> Void
        }

        private let state = Locked(State())
        // Set once, under the lock, and never read, hence the opt-out: holding it keeps the watch alive as long as the process.
        nonisolated(unsafe) private var source: (any DispatchSourceRead)?

        /// Begins to listen; false where the process, or its user, may not have another descriptor just now. The next folder tries again.
        private func begin(_ state: inout State) -> Bool {
            guard state.descriptor < 0 else { return true }
            let descriptor = cordon_watch_open()
            guard descriptor >= 0 else { return false }
            guard Self.hasRoom(beside: descriptor) else {
                close(descriptor)
                return false
            }
            state.descriptor = descriptor
            let source = DispatchSource.makeReadSource(
                fileDescriptor: descriptor, queue: DispatchQueue(label: "cordon.vault.keys"))
            self.source = source
            source.setEventHandler { [weak self] in self?.tell(descriptor) }
            source.resume()
            return true
        }

        /// Whether two descriptors more are left: Dispatch takes them for the first source of a process, and ends the process without.
        private static func hasRoom(beside descriptor: Int32) -> Bool {
            let spare = (0..<2).map { _ in fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
            for each in spare where each >= 0 { close(each) }
            return spare.allSatisfy { $0 >= 0 }
        }

        func add(_ folder: URL, _ action: @escaping @Sendable () -> Void) -> (number: Int32, id: Int)? {
            // Under the lock, so that the last one to leave the folder does not take it out meanwhile.
            state.withLock { state in
                guard begin(&state) else { return nil }
                let number = folder.path.withCString { cordon_watch_add(state.descriptor, $0) }
                guard number >= 0 else { return nil }
                state.nextID += 1
                state.watches.append(Watched(number: number, id: state.nextID, action: action))
                return (number, state.nextID)
            }
        }

        func remove(_ number: Int32, _ id: Int) {
            state.withLock { state in
                let before = state.watches.count
                state.watches.removeAll { $0.number == number && $0.id == id }
                guard state.watches.count < before, !state.watches.contains(where: { $0.number == number }) else {
                    return
                }
                cordon_watch_remove(state.descriptor, number)
            }
        }

        func has(_ id: Int) -> Bool { state.withLock { $0.watches.contains { $0.id == id } } }

        private func tell(_ descriptor: Int32) {
            var events = [cordon_watch_event](repeating: cordon_watch_event(), count: Int(CORDON_WATCH_MOST))
            var changed: Set<Int32> = []
            var over: Set<Int32> = []
            while true {
                let count = cordon_watch_read(descriptor, &events)
                if count == 0 { break }
                for event in events.prefix(count) {
                    changed.insert(event.number)
                    if event.is_over != 0 { over.insert(event.number) }
                }
            }
            let (seen, ended) = (changed, over)
            // What was lost may have been the end of a folder as well: whoever watched one watches it anew.
            let isLost = changed.contains(Int32(CORDON_WATCH_ALL))
            let told = state.withLock { state in
                let told = state.watches.filter { isLost || seen.contains($0.number) }
                if isLost { for watched in state.watches { cordon_watch_remove(descriptor, watched.number) } }
                state.watches.removeAll { isLost || ended.contains($0.number) }
                return told.map(\.action)
            }
            for action in told { action() }
        }
    }
#endif
