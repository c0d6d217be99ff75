import CordonIdentity
import CordonVault
import Foundation

/// A vault's life, step by step, each said when it is durable; and what must hold of a folder in which the power went off after some of them.
struct Life {
    private let folder: URL
    private static let ada = AccountID("ada@example.test")
    private static let ben = AccountID("ben@example.test")

    init(_ folder: URL) { self.folder = folder }

    private enum Step {
        case key(AccountID)
        /// The name of a file, its owner and which of its contents is written.
        case write(String, AccountID, Int)
        case move(String, String)
        case wipe(AccountID)
    }

    private static let steps: [Step] = [
        .key(ada), .key(ben), .write("a", ada, 1), .write("b", ben, 1), .write("a", ada, 2), .write("b", ben, 2),
        .write("c", ada, 3), .move("c", "d"), .write("b", ben, 3), .write("d", ada, 1), .wipe(ada), .write("b", ben, 4),
        .key(ada), .write("e", ada, 2), .move("b", "f"), .write("f", ben, 1), .wipe(ben), .write("e", ada, 3),
    ]

    /// Of several chunks, longer and shorter from one to the next.
    private static func content(_ version: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(version), count: [0, 9000, 30_000, 500, 17_000][version])
    }

    private func path(_ name: String) -> URL { folder.appendingPathComponent("documents/\(name)") }

    func run() async throws {
        let vault = try vault(in: folder)
        for (number, step) in Self.steps.enumerated() {
            switch step {
            case .key(let account): _ = try await vault.createAccountKey(for: account)
            case .write(let name, let account, let version):
                let exists = FileManager.default.fileExists(atPath: path(name).path)
                let file =
                    try await exists
                    ? vault.open(path(name)) : vault.create(path(name), for: account, chunkSize: 4096)
                let bytes = Self.content(version)
                try file.truncate(to: Int64(bytes.count))
                try bytes.withUnsafeBytes { try file.write($0, at: 0) }
                try file.sync()
                try file.close()
            case .move(let name, let other): try await vault.move(path(name), to: path(other))
            case .wipe(let account): _ = try await vault.wipe(account)
            }
            say("durable \(number + 1)")
        }
    }

    // MARK: After a power cut

    /// Reads lines `DURABLE FOLDER` and answers each with `ok` or with what is wrong.
    static func checkAll() async {
        while let line = readLine() {
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let durable = Int(parts[0]) else { fail("check: DURABLE FOLDER is expected") }
            let life = Life(URL(fileURLWithPath: String(parts[1])))
            do {
                say(try await life.fault(durable: durable) ?? "ok")
            } catch {
                say("\(error)".replacingOccurrences(of: "\n", with: " "))
            }
        }
    }

    /// What each account and file may be after so many steps that were durable, and perhaps one more.
    private struct Expected {
        var hasKey: [AccountID: Bool] = [:]
        var files: [String: (owner: AccountID, version: Int)] = [:]

        mutating func take(_ step: Step) {
            switch step {
            case .key(let account): hasKey[account] = true
            case .write(let name, let account, let version): files[name] = (account, version)
            case .move(let name, let other): files[other] = files.removeValue(forKey: name)
            case .wipe(let account):
                hasKey[account] = false
                files = files.filter { $0.value.owner != account }
            }
        }
    }

    private func fault(durable: Int) async throws -> String? {
        var before = Expected()
        for step in Self.steps[..<durable] { before.take(step) }
        var after = before
        let next = durable < Self.steps.count ? Self.steps[durable] : nil
        if let next { after.take(next) }
        let vault = try vault(in: folder)
        _ = try await vault.resumeWipes()
        for account in [Self.ada, Self.ben] {
            let isOpen = (try? await vault.unlock(account)) != nil
            let allowed = [before.hasKey[account] ?? false, after.hasKey[account] ?? false]
            if !allowed.contains(isOpen) { return "\(account.rawValue) is \(isOpen ? "open" : "not open")" }
            // Of a wipe that began and whose key is gone nothing is left.
            if !isOpen, !vault.files(ownedBy: account).isEmpty { return "files of \(account.rawValue) without a key" }
        }
        let present = try FileManager.default.contentsOfDirectory(atPath: path("").path).filter { !$0.hasPrefix(".") }
        for name in Set(before.files.keys).union(after.files.keys).union(present) {
            let allowed = [before.files[name], after.files[name]]
            guard present.contains(name) else {
                // A wipe removes an account's files one after the other, and a move has both names or one.
                if allowed.contains(where: { $0 == nil }) || isUnderWipe(allowed, next) { continue }
                return "\(name) is gone"
            }
            guard allowed.contains(where: { $0 != nil }) else { return "\(name) should not be there" }
            if let owner = vault.owner(of: path(name)), await !vault.isUnlocked(owner) {
                return "\(name) stays without a key"
            }
            let file = try await vault.open(path(name), writing: false)
            var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
            _ = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
            try file.close()
            let versions = allowed.compactMap { $0.map { Self.content($0.version) } }
            // A file that is made and not yet written is empty.
            let isNew = before.files[name] == nil && bytes.isEmpty
            if !versions.contains(bytes), !isNew {
                return "\(name) holds \(bytes.count) bytes that were never written together"
            }
        }
        return nil
    }

    private func isUnderWipe(_ allowed: [(owner: AccountID, version: Int)?], _ next: Step?) -> Bool {
        if case .wipe(let account) = next { allowed.contains { $0?.owner == account } } else { false }
    }
}
