import Foundation

#if canImport(CoreFoundation)
    import CoreFoundation
#endif

#if canImport(CDispatch)
    import CDispatch
#endif

/// The user that a service runs as.
enum ServiceUser {
    /// Refuses to write into a service's folder as another user, such as root: the service could not read what is written.
    ///
    /// - Throws: ``CommandFailure`` with status `refused`.
    static func require(for folder: URL, store: URL?) throws(CommandFailure) {
        // The service makes both at its first start; the folder around them may belong to anyone.
        var facts = stat()
        let places = [folder.appending(path: "keys"), store].compactMap(\.self)
        guard let place = places.first(where: { stat($0.path, &facts) == 0 }), facts.st_uid != geteuid() else { return }
        throw CommandFailure(
            .refused, "\(place.path): belongs to the user \(facts.st_uid), who could not read what is written here",
            hint: "Run this as the service's user, such as with sudo -u.")
    }
}
