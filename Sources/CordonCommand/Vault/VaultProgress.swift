/// One line on a terminal that says how far a long file is; nothing anywhere else.
struct VaultProgress {
    private let label: String
    private let total: Int64?
    private var shown: Int64 = -1

    init(_ label: String, total: Int64?) {
        self.label = label
        self.total = Terminal.showsProgress ? total : nil
    }

    /// Says how many bytes are done.
    mutating func show(_ done: Int64) {
        guard let total, total > 0 else { return }
        let percent = done * 100 / total
        guard percent != shown else { return }
        shown = percent
        Terminal.progress("\(label) \(percent) %")
    }

    /// Clears the line.
    func end() {
        guard shown >= 0 else { return }
        Terminal.progress("")
    }
}
