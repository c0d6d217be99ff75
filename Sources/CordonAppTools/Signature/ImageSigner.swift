import Foundation

/// Puts a new signature into one image (TL-SG-02, TL-SG-04).
struct ImageSigner {
    /// What is signed besides the code.
    struct Content {
        var identifier: String
        var entitlements: Data?
        var info: Data?
        var resources: Data?
        var requirements: Data?
        /// Flags and the runtime's version that the code asked for before.
        var flags: UInt32 = 0
        var runtime: UInt32 = 0
        /// Constraints on how and by whom the code is started, by slot (TL-SG-12).
        var constraints: [(slot: UInt32, data: Data)] = []
    }

    let image: MachOImage
    let content: Content
    let identity: SigningIdentity?

    private static let cmsReserve = 20_000
    /// iOS 11, before which only SHA-1 directories were understood.
    private static let firstWithoutSHA1: UInt32 = 0x000B_0000

    /// The image's pieces with the new signature.
    /// - Throws: `refused` when there is no room for the load command or the image is encrypted.
    func signed() throws(AppToolsError) -> [Data] {
        guard !image.isEncrypted else {
            throw AppToolsError(
                .refused, "is encrypted by the store and cannot be signed", hint: "use the build before the store's")
        }
        let codeLimit = image.signature?.lowerBound ?? (image.data.count + 15) / 16 * 16
        guard codeLimit % 16 == 0 else { throw AppToolsError(.refused, "the present signature is not aligned") }
        guard image.bytesBehindSignature == 0 else {
            throw AppToolsError(
                .refused, "\(image.bytesBehindSignature) bytes follow the present signature, and would be lost")
        }
        let plan = try directoryPlan()
        let hashes = needsSHA1 ? [CodeHash.sha1, .sha256] : [.sha256]
        let fixed = try fixedBlobs()
        let directories = hashes.reduce(0) { $0 + plan.size($1, codeLimit: codeLimit) }
        let cms = identity == nil ? 8 : Self.cmsReserve
        let length =
            12 + (hashes.count + fixed.count + 1) * 8 + directories + fixed.reduce(0) { $0 + $1.data.count } + cms
        let area = (length + 15) / 16 * 16
        let head = try head(codeLimit: codeLimit, area: area)
        guard codeLimit >= head.count else {
            throw AppToolsError(.refused, "the signature lies inside the load commands")
        }
        let rest = image.data.dropFirst(head.count).prefix(max(0, codeLimit - head.count))
        let code = CodePages(head: head, rest: rest, size: codeLimit)
        let made = hashes.map { plan.blob($0, code: code) }
        var blobs: [(slot: UInt32, data: Data)] = [(SuperBlob.Slot.codeDirectory, made[0])] + fixed
        if made.count > 1 { blobs.append((SuperBlob.Slot.alternates.lowerBound, made[1])) }
        let signature = try identity?.sign(directories: zip(hashes, made).map { ($0, $1) }) ?? Data()
        blobs.append((SuperBlob.Slot.cms, SuperBlob.blob(SuperBlob.Magic.cms, signature)))
        let data = SuperBlob(blobs).data
        guard data.count <= area else { throw AppToolsError(.refused, "the certificates are too long for a signature") }
        let gap = Data(count: codeLimit - head.count - rest.count)
        return [head, rest, gap, data + Data(count: area - data.count)]
    }

    private var needsSHA1: Bool {
        image.platform == .iOS && (image.minimumVersion ?? .max) < Self.firstWithoutSHA1
    }

    private func directoryPlan() throws(AppToolsError) -> CodeDirectoryPlan {
        let isExecutable = image.fileType == 2
        var special: [Int: Data] = [2: requirements]
        special[1] = content.info
        special[3] = content.resources
        for blob in try entitlementBlobs() + content.constraints { special[Int(blob.slot)] = blob.data }
        var flags: UInt64 = isExecutable ? 1 : 0
        if let entitlements = try parsedEntitlements(), entitlements["get-task-allow"]?.boolean == true {
            flags |= 0x10
        }
        return CodeDirectoryPlan(
            identifier: content.identifier, team: identity?.team,
            flags: content.flags | (identity == nil ? CodeDirectory.Flag.adHoc : 0),
            executableLimit: UInt64(image.segment("__TEXT")?.fileSize ?? 0), executableFlags: flags,
            runtime: content.runtime, special: special)
    }

    private var requirements: Data {
        content.requirements ?? SuperBlob.blob(SuperBlob.Magic.requirements, UInt32(0).bigBytes)
    }

    private func parsedEntitlements() throws(AppToolsError) -> PropertyListValue? {
        guard image.fileType == 2, let data = content.entitlements else { return nil }
        return try naming("entitlements") { () throws(AppToolsError) in try PropertyList(reading: data).value }
    }

    private func entitlementBlobs() throws(AppToolsError) -> [(slot: UInt32, data: Data)] {
        // Only main executables carry entitlements.
        guard let data = content.entitlements, let parsed = try parsedEntitlements() else { return [] }
        return [
            (SuperBlob.Slot.entitlements, SuperBlob.blob(SuperBlob.Magic.entitlements, data)),
            (
                SuperBlob.Slot.derEntitlements,
                SuperBlob.blob(SuperBlob.Magic.derEntitlements, try EntitlementsDER.encode(parsed))
            ),
        ]
    }

    private func fixedBlobs() throws(AppToolsError) -> [(slot: UInt32, data: Data)] {
        [(SuperBlob.Slot.requirements, requirements)] + (try entitlementBlobs()) + content.constraints
    }

    /// Header and load commands that name the new signature area.
    private func head(codeLimit: Int, area: Int) throws(AppToolsError) -> Data {
        var head = Data(try image.reader.data(at: 0, count: image.headerSize + image.commandsSize))
        func put(_ bytes: Data, at offset: Int) { head.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
        guard let limit = UInt32(exactly: codeLimit) else { throw AppToolsError(.refused, "the image is too large") }
        let place = limit.littleBytes + UInt32(area).littleBytes
        if let command = image.signatureCommand {
            put(place, at: command.offset + 8)
        } else {
            // What lies there belongs to no section; tools that remove a signature leave its command's bytes behind.
            guard image.padding >= 16 else {
                throw AppToolsError(
                    .refused, "no room for the signature's load command", hint: "link with -Wl,-headerpad,0x1000")
            }
            put(UInt32(image.commands.count + 1).littleBytes + UInt32(image.commandsSize + 16).littleBytes, at: 16)
            head += LoadCommand.codeSignature.littleBytes + UInt32(16).littleBytes + place
        }
        guard let linkEdit = image.segment("__LINKEDIT"), codeLimit >= linkEdit.fileOffset else {
            throw AppToolsError(.refused, "the image has no __LINKEDIT segment for the signature")
        }
        let size = UInt64(codeLimit + area - linkEdit.fileOffset)
        let page: UInt64 = 1 << UInt64(image.cpu.alignment)
        let memory = max((size + page - 1) / page * page, linkEdit.memorySize)
        if image.is64Bit {
            put(memory.littleBytes, at: linkEdit.command.offset + 32)
            put(size.littleBytes, at: linkEdit.command.offset + 48)
        } else {
            guard let memory = UInt32(exactly: memory), let size = UInt32(exactly: size) else {
                throw AppToolsError(.refused, "the image is too large")
            }
            put(memory.littleBytes, at: linkEdit.command.offset + 28)
            put(size.littleBytes, at: linkEdit.command.offset + 36)
        }
        return head
    }
}
