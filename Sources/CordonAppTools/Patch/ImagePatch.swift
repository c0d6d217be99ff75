import Foundation

/// Inserting the SDK's load command into one image, and taking it out again (TL-FP-12, TL-FP-19).
struct ImagePatch {
    /// How an image stands to the SDK (TL-FP-18).
    enum State: String, Sendable {
        case patched, linked, unpatched, foreign, damaged
    }

    let image: MachOImage
    let names: NamingProfile

    private var framework: String { names.frameworkName }

    /// The load command of the SDK, wherever it leads.
    private var sdkLibraries: [MachOImage.Library] { libraries(of: framework) }

    private func libraries(of framework: String) -> [MachOImage.Library] {
        image.libraries.filter { $0.path.hasSuffix("/\(framework).framework/\(framework)") }
    }

    /// The vendor's frameworks that the image loads.
    var protection: [String] {
        ([framework] + names.linkedFrameworks.filter { $0 != framework }).filter { !libraries(of: $0).isEmpty }
    }

    private func marker(_ library: MachOImage.Library) -> PatchMarker? {
        guard library.command.kind == LoadCommand.loadDylib, library.command.size >= 24 + PatchMarker.size else {
            return nil
        }
        let end = library.command.offset + library.command.size
        guard let bytes = try? image.reader.data(at: end - PatchMarker.size, count: PatchMarker.size) else {
            return nil
        }
        return PatchMarker(bytes)
    }

    /// The state, a damaged one with its reason.
    var state: (State, String) {
        guard sdkLibraries.count <= 1 else { return (.damaged, "loads \(framework) more than once") }
        guard let library = sdkLibraries.first else {
            return protection.first.map { (.linked, "was linked with \($0)") }
                ?? (.unpatched, "does not load \(framework)")
        }
        guard marker(library) != nil else {
            return standsApart(library)
                ? (.foreign, "loads \(framework) by a command that another tool added")
                : (.linked, "was linked with \(framework)")
        }
        do {
            _ = try removed()
            return (.patched, "loads \(framework) as library \(image.libraries.count)")
        } catch { return (.damaged, error.reason) }
    }

    /// Linkers write all libraries in one run of commands; a tool that appends to the end breaks it.
    private func standsApart(_ library: MachOImage.Library) -> Bool {
        guard let place = image.commands.firstIndex(where: { $0.offset == library.command.offset }),
            image.libraries.count > 1, image.libraries.last?.command.offset == library.command.offset, place > 0
        else { return false }
        return !LoadCommand.libraries.contains(image.commands[place - 1].kind)
    }

    /// The new header and load commands with the padding they use up, to put over the image's first bytes.
    /// - Throws: `refused` when the padding is too short or not empty.
    func installed(path: String, reusesCommands: Bool = false) throws(AppToolsError) -> Data {
        let original = try image.reader.data(at: 0, count: image.headerSize + image.commandsSize)
        let name = Data(path.utf8) + Data([0])
        let size = (24 + name.count + PatchMarker.size + 7) / 8 * 8
        if size > image.padding, reusesCommands, let spared = try sparedHead(original) {
            // What is given up becomes padding; the receipt keeps it.
            return try Self(image: MachOImage(spared, size: image.reader.count), names: names)
                .installed(path: path)
        }
        guard size <= image.padding else {
            let hint = "link with -Wl,-headerpad,0x1000"
            let spare = reusesCommands ? nil : try sparedHead(original)
            throw AppToolsError(
                .refused, "needs \(size) bytes of header padding, has \(image.padding)",
                hint: spare != nil ? "\(hint), or try --reuse with --receipt" : hint)
        }
        guard try image.reader.data(at: original.count, count: size).allSatisfy({ $0 == 0 }) else {
            throw AppToolsError(.refused, "the header padding is not empty, removal could not restore it")
        }
        guard image.commandsSize + size <= MachOImage.largestCommands else {
            throw AppToolsError(.refused, "the load commands would grow too large")
        }
        let marker = try PatchMarker(originalHead: original)
        var command = Data()
        for number: UInt32 in [LoadCommand.loadDylib, UInt32(size), 24, 2, 0x10000, 0x10000] {
            command += number.littleBytes
        }
        command += name + Data(count: size - 24 - name.count - PatchMarker.size) + marker.bytes
        guard let last = image.libraries.last?.command else {
            throw AppToolsError(.refused, "the image loads no library at all, not even the system's")
        }
        let cut = last.offset + last.size
        return header(original, commands: 1, bytes: size)
            + original.prefix(cut).dropFirst(image.headerSize) + command + original.dropFirst(cut)
    }

    /// The head without commands that nothing needs at run time, and the longer padding; nil when there is none.
    private func sparedHead(_ original: Data) throws(AppToolsError) -> Data? {
        var spare: [LoadCommand] = []
        for command in image.commands {
            let isEmptyTable = command.kind == LoadCommand.dataInCode
            if command.kind == LoadCommand.sourceVersion {
                spare.append(command)
            } else if isEmptyTable, try image.reader.little32(at: command.offset + 12) == 0 {
                spare.append(command)
            }
        }
        guard !spare.isEmpty else { return nil }
        let freed = spare.reduce(0) { $0 + $1.size }
        var commands = Data()
        for command in image.commands where !spare.contains(where: { $0.offset == command.offset }) {
            commands += original.dropFirst(command.offset).prefix(command.size)
        }
        return try header(original, commands: -spare.count, bytes: -freed) + commands + Data(count: freed)
            + image.reader.data(at: original.count, count: image.padding)
    }

    /// The original header and load commands with the freed bytes zero again.
    /// - Throws: `refused` when the marker's digest does not match what removal would leave.
    func removed() throws(AppToolsError) -> Data {
        guard let library = sdkLibraries.first, sdkLibraries.count == 1, let marker = marker(library) else {
            throw AppToolsError(.refused, "was not patched by this tool")
        }
        let command = library.command
        guard image.libraries.last?.command.offset == command.offset else {
            throw AppToolsError(.refused, "a library follows the inserted one, its number would change")
        }
        let present = try image.reader.data(at: 0, count: image.headerSize + image.commandsSize)
        let restored =
            header(present, commands: -1, bytes: -command.size)
            + present.prefix(command.offset).dropFirst(image.headerSize)
            + present.dropFirst(command.offset + command.size)
        guard try PatchMarker(originalHead: restored) == marker else {
            throw AppToolsError(.refused, "the load commands were changed after patching")
        }
        return restored + Data(count: command.size)
    }

    private func header(_ original: Data, commands: Int, bytes: Int) -> Data {
        let head = Data(original.prefix(image.headerSize))
        return head.prefix(16) + UInt32(image.commands.count + commands).littleBytes
            + UInt32(image.commandsSize + bytes).littleBytes + head.dropFirst(24)
    }
}
