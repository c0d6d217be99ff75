internal import CordonService
internal import GRDB

extension ServiceError {
    /// The service's own words for what the store met; no statement and no value gets into them.
    init(storage error: any Error, place: String?) {
        if let error = error as? ServiceError {
            self = error
            return
        }
        guard let error = error as? DatabaseError else {
            self.init(.storageUnavailable, "the call was given up", place: place)
            return
        }
        let code = error.resultCode
        let reason = "SQLite says \(code.rawValue), \(code)"
        switch code {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            self.init(.storageDamaged, "the store is damaged: \(reason)", place: place)
        case .SQLITE_FULL:
            self.init(.storageUnavailable, "the disk is full: \(reason)", place: place)
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(
                .storageUnavailable, "another process holds the store: \(reason)", place: place,
                hint: "Stop the other process; one service writes to a store at a time.")
        case .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_MISUSE, .SQLITE_INTERRUPT,
            .SQLITE_ABORT:
            self.init(.storageUnavailable, "the store does not answer: \(reason)", place: place)
        default:
            self.init(.internalError, "the store refused a statement: \(reason)", place: place)
        }
    }
}
