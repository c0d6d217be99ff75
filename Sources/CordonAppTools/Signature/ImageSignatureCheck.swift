import Foundation

/// The checks of one image's signature.
struct ImageSignatureCheck {
    struct Problem: Equatable {
        let severity: Finding.Severity
        let code: String
        let message: String
    }

    let image: MachOImage
    let info: Data?
    let resources: Data?

    /// The parsed signature; nil when the image has none.
    static func signature(_ image: MachOImage) throws(AppToolsError) -> SuperBlob? {
        guard let range = image.signature else { return nil }
        return try SuperBlob(reading: try image.reader.data(at: range.lowerBound, count: range.count))
    }

    func problems() -> [Problem] {
        do {
            guard let signature = try Self.signature(image) else {
                return [Problem(severity: .error, code: "SG-UNSIGNED", message: "is not signed")]
            }
            var found: [Problem] = []
            if image.bytesBehindSignature > 0 {
                found.append(
                    error(
                        "SG-LIMIT", "the \(image.bytesBehindSignature) bytes behind the signature are not covered by it"
                    ))
            }
            var directories: [CodeDirectory] = []
            for blob in signature.codeDirectories { directories.append(try CodeDirectory(blob)) }
            guard let first = directories.first else {
                return [error("SG-DIRECTORY", "the signature has no code directory")]
            }
            for directory in directories { found += directoryProblems(directory, signature) }
            // Systems go by the one with the best hash.
            if directories.contains(where: {
                ($0.identifier, $0.team, $0.flags) != (first.identifier, first.team, first.flags)
            }) {
                found.append(error("SG-DIRECTORY", "the code directories name different identifiers, teams or flags"))
            }
            found += entitlementProblems(signature)
            found += try CMSCheck(signature: signature).problems()
            // An image for old systems has two directories, which tell the same.
            return found.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        } catch {
            return [self.error("SG-FORMAT", error.description)]
        }
    }

    private func error(_ code: String, _ message: String) -> Problem {
        Problem(severity: .error, code: code, message: message)
    }

    private func directoryProblems(_ directory: CodeDirectory, _ signature: SuperBlob) -> [Problem] {
        var found: [Problem] = []
        let start = image.signature?.lowerBound ?? 0
        if directory.codeLimit != start {
            found.append(error("SG-LIMIT", "the signature covers \(directory.codeLimit) of \(start) bytes of code"))
        }
        let limit = min(directory.codeLimit, image.data.count)
        let unit = directory.pageSize ?? max(limit, 1)
        if directory.pageCount != (limit + unit - 1) / unit {
            found.append(error("SG-PAGES", "the number of page hashes is wrong"))
        }
        let bad = changedPages(directory)
        if let first = bad.first?.page {
            found.append(
                error(
                    "SG-CODE",
                    "\(bad.count) of \(directory.pageCount) pages changed, the first at offset \(first * unit)"))
        }
        return found + slotProblems(directory, signature)
    }

    /// What directories cover besides code, by slot.
    private static let slots: [Int: String] = [
        1: "Info.plist", 2: "requirements", 3: "CodeResources", 4: "application data", 5: "entitlements",
        6: "disk image data", 7: "DER entitlements", 8: "launch constraint", 9: "launch constraint of the parent",
        10: "launch constraint of the responsible program", 11: "library constraint",
    ]
    /// The slots whose content lies outside the signature.
    private static let outside: Set<Int> = [1, 3, 4, 6]

    private func slotProblems(_ directory: CodeDirectory, _ signature: SuperBlob) -> [Problem] {
        var found: [Problem] = []
        let carried = signature.blobs.map { Int($0.slot) }.filter {
            (1..<Int(SuperBlob.Slot.alternates.lowerBound)).contains($0)
        }
        for slot in Set(Self.slots.keys).union(carried).union(1..<directory.specialCount + 1).sorted() {
            let name = Self.slots[slot] ?? "slot \(slot)"
            let content = slot == 1 ? info : slot == 3 ? resources : signature[UInt32(slot)]
            switch (directory.specialHash(slot), content) {
            case (let hash?, let content?) where hash != directory.hash.hash(content):
                found.append(error("SG-SLOT", "\(name) changed after signing"))
            case (nil, .some): found.append(error("SG-SLOT", "\(name) is not covered by the signature"))
            case (.some, nil) where !Self.outside.contains(slot) || isBundled && (slot == 1 || slot == 3):
                found.append(error("SG-SLOT", "\(name) is signed but missing"))
            default: break
            }
        }
        return found
    }

    /// The pages whose content does not have the hash that a directory names, with the hash they have.
    func changedPages(_ directory: CodeDirectory) -> [(page: Int, hash: Data)] {
        let limit = min(directory.codeLimit, image.data.count)
        let unit = directory.pageSize ?? max(limit, 1)
        return (0..<directory.pageCount).compactMap { page in
            guard page * unit < limit else { return nil }
            let hash = directory.hash.hash(image.data.dropFirst(page * unit).prefix(min(unit, limit - page * unit)))
            return hash == directory.pageHash(page) ? nil : (page, hash)
        }
    }

    /// Whether the files that only a bundle has were looked for.
    private var isBundled: Bool { info != nil }

    private func entitlementProblems(_ signature: SuperBlob) -> [Problem] {
        let der = signature.content(SuperBlob.Slot.derEntitlements) ?? Data()
        guard let xml = signature.content(SuperBlob.Slot.entitlements), !xml.isEmpty else {
            return der.isEmpty
                ? []
                : [
                    error(
                        "SG-ENTITLEMENTS", "the entitlements are in DER only, which is compared with nothing")
                ]
        }
        guard let value = try? PropertyList(reading: xml).value else {
            return [error("SG-ENTITLEMENTS", "the entitlements are not a usable property list")]
        }
        return variableProblems(value) + formProblems(value, der)
    }

    /// Devices compare entitlements literally, a variable that the build should have replaced matches nothing.
    private func variableProblems(_ value: PropertyListValue) -> [Problem] {
        guard let text = BuildVariables.firstText(in: value) else { return [] }
        return [error("SG-VARIABLE", "the entitlement \(text) holds a build variable that was not replaced")]
    }

    private func formProblems(_ value: PropertyListValue, _ der: Data) -> [Problem] {
        guard let form = der.first else { return [] }
        guard form != 0x31 else {
            return [
                Problem(
                    severity: .warning, code: "SG-OLDDER",
                    message: "the DER entitlements have the older form, which is not compared with the XML")
            ]
        }
        guard let encoded = try? EntitlementsDER.encode(value) else {
            return [error("SG-ENTITLEMENTS", "the entitlements have no form in DER, and the signature has one")]
        }
        return encoded == der ? [] : [error("SG-ENTITLEMENTS", "XML and DER entitlements differ")]
    }
}
