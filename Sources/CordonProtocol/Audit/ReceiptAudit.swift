internal import Foundation

/// Checks the receipts in an audit log against the keys that its registrations were made with.
struct ReceiptAudit: Sendable {
    /// How many receipts were good.
    private(set) var verified = 0
    private var keys: [String: String] = [:]

    /// What is wrong with the record's receipt, nil for nothing or where there need be none.
    mutating func fault(in record: AuditRecord) -> String? {
        switch record.action {
        case "registration.create":
            keys[record.target] = record.details["keyThumbprint"]
            return nil
        case "wipe.succeeded":
            guard let receipt = record.details["receipt"] else { return "a finished wipe has no receipt" }
            return check(receipt, of: record, mustSucceed: true)
        case "wipe.failed":
            return record.details["receipt"].flatMap { check($0, of: record, mustSucceed: false) }
        default: return nil
        }
    }

    private mutating func check(_ text: String, of record: AuditRecord, mustSucceed: Bool) -> String? {
        let registrationID = record.details["registration"] ?? ""
        guard let known = keys["registration/\(registrationID)"] else {
            return "the receipt is of a registration that the log does not know"
        }
        do {
            let key = try MessageCoding.decode(JSONWebKey.self, from: Data((record.details["key"] ?? "").utf8))
            guard key.thumbprint == known else { return "the receipt's key is not the registration's" }
            let receipt = try WipeReceipt(verifying: text, signedBy: key)
            guard receipt.registrationID == registrationID, receipt.tenant == record.tenant,
                record.target == "operation/\(receipt.commandID)"
            else { return "the receipt is about something else" }
            guard receipt.succeeded || !mustSucceed else { return "the receipt lists failures" }
        } catch {
            return "the receipt is not acceptable: \(error.reason)"
        }
        verified += 1
        return nil
    }
}
