/// How the app was built: only a debug build may try rules without a service (SDK-DB-02).
package enum BuildKind: Sendable, Equatable {
    /// For its developer.
    case debug
    /// For every user of the app.
    case release

    /// This build.
    package static var current: BuildKind {
        #if DEBUG
            .debug
        #else
            .release
        #endif
    }
}
