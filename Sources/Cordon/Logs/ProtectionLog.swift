internal import CordonBase
internal import CordonIdentity
public import Foundation
public import Logging

/// Cordon's log in the app's state folder: bounded, rotated, and free of secrets (SDK-LG-01…04).
///
/// Make one, give its ``handler(_:)`` to the `Logger` of the configuration, and the log itself to
/// ``ProtectionConfiguration/logFile``. From then on the settings decide how much it writes (`VerboseLoggingEnabled`) and
/// what it leaves out (`ValuesToScrubFromLogging`), and ``ProtectionDiagnostics/logs`` names the files. Its files have mode
/// 0600; any thread and several processes may write. A wipe removes every line that names the account, and every verbose
/// line, because only those may hold personal data. What cannot be written is lost: a log must not stop an app.
public final class ProtectionLog: Sendable {
    /// What a line calls the account that it is about.
    static let accountField = "account"

    /// Bytes of one file at most; a longer line is cut.
    public let limit: Int
    /// Full files that are kept beside the one being written.
    public let kept: Int
    private let folder: StateFolder
    private let directory: URL
    private let state = Locked((level: Logger.Level.info, scrubber: LogScrubber()))

    /// Opens the log.
    ///
    /// - Parameters:
    ///   - dataDirectory: The app's ``ProtectionConfiguration/dataDirectory``; the log lies in its folder `logs`.
    ///   - limit: Bytes of one file at most.
    ///   - kept: Full files that are kept; older ones are removed.
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    public init(dataDirectory: URL, limit: Int = 1 << 20, kept: Int = 2) throws(ProtectionError) {
        directory = dataDirectory.appending(path: "logs")
        folder = try StateFolder(directory)
        self.limit = max(limit, 1024)
        self.kept = max(kept, 0)
    }

    /// The existing files, newest first, including those left by a version of the app that kept more.
    public var files: [URL] { numbers.map(file) }

    private var entries: [String] { (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? [] }

    private var numbers: [Int] {
        entries.compactMap { name in
            let number = Int(name.dropFirst("cordon.".count).dropLast(".log".count)) ?? 0
            return number >= 0 && file(number).lastPathComponent == name ? number : nil
        }.sorted()
    }

    /// A handler for a logger whose lines go here.
    public func handler(_ label: String) -> some LogHandler { ProtectionLogHandler(label: label, log: self) }

    /// The least grave level that is written now.
    var level: Logger.Level { state.withLock { $0.level } }

    /// Follows the settings: verbose or not, and which keys' values stay out.
    func follow(_ settings: ProtectionSettings) {
        state.withLock {
            $0.level = settings.logsVerbosely ? .trace : .info
            $0.scrubber.keys = Set(settings.scrubbedKeys)
        }
    }

    /// Keeps these values out, wherever they stand.
    func scrub(_ values: Set<String>) {
        state.withLock { $0.scrubber.values = values }
    }

    /// Writes one line.
    func write(_ event: LogEvent, label: String, metadata: Logger.Metadata, at moment: Date) {
        let scrubber = state.withLock { $0.scrubber }
        var fields = [moment.formatted(.iso8601), event.level.rawValue, label, scrubber.clean("\(event.message)")]
        fields += scrubber.text(of: metadata)
        var line = Data(fields.joined(separator: " ").utf8.prefix(limit - 1))
        line.append(UInt8(ascii: "\n"))
        try? StateLock.exclusively(folder.lock) { () throws(ProtectionError) in append(line) }
    }

    /// Removes every line that names one of these, and every verbose one.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable` where such lines may be left.
    func forget(_ names: [String]) throws(ProtectionError) {
        let names = written(names)
        try StateLock.exclusively(folder.lock) { () throws(ProtectionError) in
            // A kill has left them when another account was forgotten.
            for name in entries where name.hasPrefix("cordon.") && name.hasSuffix(StateFile.draftSuffix) {
                try StateFile(url: directory.appending(path: name)).remove()
            }
            for url in files {
                let lines = contents(of: url).split(separator: "\n")
                let left = lines.filter { line in
                    Self.isHarmless(line, without: names) && !names.contains { Self.mayBe($0, in: line) }
                }
                let file = StateFile(url: url)
                // What no log can be written over, such as a folder, goes.
                do { try file.write(Data(left.map { "\($0)\n" }.joined().utf8)) } catch { try file.remove() }
            }
        }
    }

    /// What the files say, the oldest line first, without verbose lines and those that name one of these or say that they are about another
    /// account, be it one that is not enrolled any more or never was; of more than so many bytes the newest.
    func text(about account: ManagedAccount, without names: [String], atMost limit: Int) -> Data {
        let names = written(names)
        let scrubber = state.withLock { $0.scrubber }
        var lines: [Data] = []
        var left = limit
        for url in files {
            for line in contents(of: url).split(separator: "\n").reversed()
            where Self.isHarmless(line, without: names) && !Self.isAboutAnother(line, than: account) {
                let bytes = Data((scrubber.clean(String(line)) + "\n").utf8)
                left -= bytes.count
                guard left >= 0 else { return Data(lines.reversed().joined()) }
                lines.append(bytes)
            }
        }
        return Data(lines.reversed().joined())
    }

    /// Names in every form in which a line has them, in lower case: as they are, and with what the log does not write.
    private func written(_ names: [String]) -> [String] {
        let scrubber = state.withLock { $0.scrubber }
        let forms = names.flatMap { [$0, LogScrubber().clean($0), scrubber.clean($0)] }
        return Set(forms).filter { !$0.isEmpty && $0 != LogScrubber.mark }.map { $0.lowercased() }
    }

    /// Whether a line is neither verbose, which may hold personal data (SDK-LG-01), nor names one of these.
    private static func isHarmless(_ line: Substring, without names: [String]) -> Bool {
        let words = line.split(separator: " ", maxSplits: 2)
        let isVerbose = words.count > 1 && (words[1] == "trace" || words[1] == "debug")
        let text = line.lowercased()
        return !isVerbose && !names.contains { text.contains($0) }
    }

    /// Whether a word of a line may be a name of which a part was taken out: the value that was scrubbed may not be known any more, after a
    /// start or under another configuration.
    private static func mayBe(_ name: String, in line: Substring) -> Bool {
        guard line.contains(LogScrubber.mark) else { return false }
        return line.lowercased().split(whereSeparator: " =,;:<>[]\"'".contains).contains { word in
            let pieces = word.components(separatedBy: LogScrubber.mark)
                .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "().!?")) }
            guard pieces.count > 1, let first = pieces.first, let last = pieces.last, !(first + last).isEmpty else {
                return false
            }
            return name.hasPrefix(first) && name.hasSuffix(last)
        }
    }

    private static func isAboutAnother(_ line: Substring, than account: ManagedAccount) -> Bool {
        let start = accountField + "="
        let own = [account.id.rawValue, account.userPrincipalName].map { AccountID(LogScrubber().clean($0)) }
        return line.split(separator: " ").contains { word in
            word.hasPrefix(start) && !own.contains(AccountID(String(word.dropFirst(start.count))))
        }
    }

    private func contents(of file: URL) -> String {
        String(decoding: (try? DurableFile.head(of: file, limit)) ?? Data(), as: UTF8.self)
    }

    private func append(_ line: Data) {
        var descriptor = try? DurableFile.openForAppending(file(0))
        if descriptor.map({ Int(lseek($0, 0, SEEK_END)) + line.count > limit }) ?? true {
            if let descriptor { close(descriptor) }
            // Also where no log can be written to, such as a pipe: it makes room.
            rotate()
            descriptor = try? DurableFile.openForAppending(file(0))
        }
        guard let descriptor else { return }
        defer { close(descriptor) }
        _ = DurableFile.append(line, to: descriptor)
    }

    private func rotate() {
        for number in numbers where number >= kept { _ = unlink(file(number).path) }
        for number in stride(from: kept, to: 0, by: -1) { _ = rename(file(number - 1).path, file(number).path) }
    }

    private func file(_ number: Int) -> URL {
        directory.appending(path: number == 0 ? "cordon.log" : "cordon.\(number).log")
    }
}
