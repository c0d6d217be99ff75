import Foundation

/// Says of every byte range that differs between two heads of an image what it is (TL-FP-04).
struct PatchExplanation {
    let before: MachOImage
    let after: MachOImage

    var lines: [String] {
        var lines: [String] = []
        if before.commands.count != after.commands.count {
            lines.append("bytes 16-19: number of load commands, \(before.commands.count) to \(after.commands.count)")
        }
        if before.commandsSize != after.commandsSize {
            lines.append("bytes 20-23: size of all load commands, \(before.commandsSize) to \(after.commandsSize)")
        }
        let old = before.commands.map { bytes(before, $0) }
        let new = after.commands.map { bytes(after, $0) }
        for change in new.difference(from: old) {
            switch change {
            case .insert(let index, _, _): lines.append(line(after.commands[index], after, "now loads", "inserted"))
            case .remove(let index, _, _):
                lines.append(line(before.commands[index], before, "no longer loads", "given up"))
            }
        }
        if let moved = moved(old, new) { lines.append(moved) }
        let ends = [before, after].map { $0.headerSize + $0.commandsSize }
        if ends[1] < ends[0] { lines.append("bytes \(ends[1])-\(ends[0] - 1): zero again") }
        return lines
    }

    private func bytes(_ image: MachOImage, _ command: LoadCommand) -> Data {
        (try? image.reader.data(at: command.offset, count: command.size)) ?? Data()
    }

    private func line(_ command: LoadCommand, _ image: MachOImage, _ loads: String, _ other: String) -> String {
        let range = "bytes \(command.offset)-\(command.offset + command.size - 1)"
        guard let library = image.libraries.first(where: { $0.command.offset == command.offset }) else {
            return "\(range): load command 0x\(String(command.kind, radix: 16)) \(other)"
        }
        return "\(range): \(loads) \(library.path); the last 16 bytes are the marker that removal checks"
    }

    /// The commands that only changed their place.
    private func moved(_ old: [Data], _ new: [Data]) -> String? {
        let places = zip(before.commands, old).compactMap { command, bytes -> (LoadCommand, Int)? in
            guard let index = new.firstIndex(of: bytes), after.commands[index].offset != command.offset else {
                return nil
            }
            return (after.commands[index], after.commands[index].offset - command.offset)
        }
        guard let first = places.first, let last = places.last else { return nil }
        let distance = abs(first.1)
        return
            "bytes \(first.0.offset)-\(last.0.offset + last.0.size - 1): \(places.count) load commands, "
            + "\(distance) bytes \(first.1 > 0 ? "later" : "earlier"), themselves unchanged"
    }
}
