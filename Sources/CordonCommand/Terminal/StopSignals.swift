import Dispatch
import Foundation

/// Calls back on signals by which the process would otherwise end.
struct StopSignals {
    private let sources: [(number: Int32, source: any DispatchSourceSignal)]

    /// Listens, and returns once it hears: a source is registered some time after it is resumed, and until then a signal ends the
    /// process as usual, instead of being lost.
    ///
    /// - Parameter heard: what to do, with the signal's number; on a thread that no pool can withhold.
    init(_ numbers: [Int32] = [SIGINT, SIGTERM], _ heard: @escaping @Sendable (Int32) -> Void) {
        let queue = DispatchQueue(label: "cordon.stop-signals")
        sources = numbers.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            let registered = DispatchSemaphore(value: 0)
            source.setEventHandler { heard(number) }
            source.setRegistrationHandler { registered.signal() }
            source.resume()
            registered.wait()
            #if canImport(Darwin)
                // There the usual action takes place beside the source; elsewhere the source has replaced it.
                signal(number, SIG_IGN)
            #endif
            return (number, source)
        }
    }

    /// Has the signals do what they usually do.
    func end() {
        for (number, source) in sources {
            source.cancel()
            signal(number, SIG_DFL)
        }
    }
}
