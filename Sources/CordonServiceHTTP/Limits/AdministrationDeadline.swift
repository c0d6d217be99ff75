import HTTPTypes

/// Until when a request of an administrator may look through records. Looking through many is work without an end of its own, so
/// code that does so asks here from time to time.
package enum AdministrationDeadline {
    /// The end for the request at hand, nil for none.
    @TaskLocal static var end: ContinuousClock.Instant?

    /// Refuses to go on after the end, and when the server stops.
    ///
    /// - Throws: A refusal with status 503.
    package static func check() throws {
        guard let end else { return }
        guard !Task.isCancelled else { throw stopping }
        guard ContinuousClock.now > end else { return }
        throw Refusal(
            .serviceUnavailable, "too-much",
            "This takes too long here: ask for less, such as for one person or one app.",
            headers: [.retryAfter: "30"])
    }

    /// What waits or works when the server stops.
    static let stopping = Refusal(
        .serviceUnavailable, "stopping", "The service stops: try again in a moment.", headers: [.retryAfter: "30"])
}
